// The state of both simulated gateways: rows in memory, rebuilt from the file at start, every change appended to it.
// It finds and keeps rows; what a charge or a refund may do is decided in charges.ts and operations.ts.
import { openLedgerFile } from './ledger-file.ts';
import type { CardRow, ChargeRow, GatewaySlug, LedgerRow, OperationRow } from './rows.ts';

export interface Ledger {
  card(gateway: GatewaySlug, id: string): CardRow | undefined;
  charge(gateway: GatewaySlug, id: string): ChargeRow | undefined;
  chargeByKey(gateway: GatewaySlug, key: string): ChargeRow | undefined;
  operationByKey(gateway: GatewaySlug, key: string): OperationRow | undefined;
  /** Charges and operations in the order they were made: those of one reference, or all. */
  movements(reference: string | null): (ChargeRow | OperationRow)[];
  pendingOperations(): OperationRow[];
  /** Takes new states of rows, together or not at all; durable once `settled()` has resolved. */
  write(...rows: LedgerRow[]): void;
  settled(): Promise<void>;
  close(): Promise<void>;
}

export function openLedger(path: string, onFault: (error: Error) => void): Ledger {
  const cards = new Map<string, CardRow>();
  const charges = new Map<string, ChargeRow>();
  const operations = new Map<string, OperationRow>();
  const chargeIds = new Map<string, string>();
  const operationIds = new Map<string, string>();
  const byReference = new Map<string, Map<string, ChargeRow | OperationRow>>();
  const all = new Map<string, ChargeRow | OperationRow>();

  function keep(row: LedgerRow): void {
    const id = scoped(row.gateway, row.id);
    if (row.row === 'card') {
      cards.set(id, row);
      return;
    }
    if (row.row === 'charge') {
      charges.set(id, row);
      chargeIds.set(scoped(row.gateway, row.key), id);
    } else {
      operations.set(id, row);
      operationIds.set(scoped(row.gateway, row.key), id);
    }
    all.set(id, row);
    const sameReference = byReference.get(row.reference) ?? new Map<string, ChargeRow | OperationRow>();
    byReference.set(row.reference, sameReference.set(id, row));
  }

  const file = openLedgerFile(path, (line) => (line as LedgerRow[]).forEach(keep), onFault);

  return {
    card: (gateway, id) => cards.get(scoped(gateway, id)),
    charge: (gateway, id) => charges.get(scoped(gateway, id)),
    chargeByKey: (gateway, key) => charges.get(chargeIds.get(scoped(gateway, key)) ?? ''),
    operationByKey: (gateway, key) => operations.get(operationIds.get(scoped(gateway, key)) ?? ''),
    movements: (reference) => [...(reference === null ? all : (byReference.get(reference) ?? new Map<string, never>())).values()],
    pendingOperations: () => [...operations.values()].filter((row) => row.status === 'pending'),
    write(...rows) {
      rows.forEach(keep);
      file.append(rows);
    },
    settled: () => file.settled(),
    close: () => file.close(),
  };
}

function scoped(gateway: GatewaySlug, id: string): string {
  return `${gateway} ${id}`;
}
