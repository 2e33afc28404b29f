// V4, and V1 for payments without a page: what was captured, voided and refunded is the same here and at the gateway, each
// movement once and known on both sides; what was refunded never exceeds what was captured; what was voided was never taken.
import type { LedgerEntry } from '../stack.ts';
import type { World } from '../world.ts';
import type { Violation } from './checker.ts';
import { grouped } from './money.ts';

interface PaymentRow {
  readonly id: string;
  readonly status: string;
  readonly initiated_by: string;
  readonly amount: string;
  readonly currency: string;
  readonly amount_captured: string;
  readonly amount_refunded: string;
  readonly amount_refund_pending: string;
  readonly gateway_transaction_id: string | null;
}
interface MovementRow {
  readonly gateway_key: string;
  readonly type: string;
  readonly transaction_id: string;
  readonly status: string;
  readonly amount: string;
}

/** Statuses of a payment whose money a charge at the gateway stands for. */
const charged: readonly string[] = ['authorized', 'captured', 'partially_refunded', 'refunded', 'voided'];
const uncharged: readonly string[] = ['failed', 'pending', 'requires_action'];

export async function checkMovements({ stack }: World): Promise<Violation[]> {
  const violations: Violation[] = [];
  const add = (invariant: 'V1' | 'V4', what: string): void => void violations.push({ invariant, what });
  const payments = await stack.query<PaymentRow>(
    'select id, status, initiated_by, amount, currency, amount_captured, amount_refunded, amount_refund_pending, gateway_transaction_id from transactions',
  );
  const movements = await stack.query<MovementRow>(
    `select gateway_key, kind as type, transaction_id, status, amount from payment_operations
      union all select gateway_key, 'refund', transaction_id, status, amount from refunds`,
  );
  const ledger = await stack.ledger();
  const taken = ledger.filter((entry) => entry.type === 'charge' && ['authorized', 'captured', 'voided'].includes(entry.status));
  const chargesOf = grouped(taken, (entry) => entry.reference);
  for (const payment of payments) checkPayment(payment, chargesOf.get(payment.id) ?? [], add);
  checkEach(movements, ledger, add);
  return violations;
}

function checkPayment(payment: PaymentRow, charges: readonly LedgerEntry[], add: (invariant: 'V1' | 'V4', what: string) => void): void {
  const { id, status } = payment;
  const [amount, captured, refunded, pending] = [payment.amount, payment.amount_captured, payment.amount_refunded, payment.amount_refund_pending].map(Number) as [number, number, number, number];
  if (captured - refunded - pending < 0) add('V4', `payment ${id} has ${captured} captured, ${refunded} refunded and ${pending} held`);
  if (captured > amount) add('V4', `payment ${id} has ${captured} captured of ${amount}`);
  if ((status === 'refunded') !== (captured > 0 && refunded === captured)) add('V4', `payment ${id} is ${status} with ${refunded} of ${captured} refunded`);
  if ((status === 'partially_refunded') !== (refunded > 0 && refunded < captured)) add('V4', `payment ${id} is ${status} with ${refunded} of ${captured} refunded`);
  if (status === 'captured' && captured === 0) add('V4', `payment ${id} is captured, for nothing`);
  if (charged.includes(status) ? charges.length !== 1 : uncharged.includes(status) && charges.length > 0) {
    add('V1', `payment ${id} is ${status}, the ledger has ${charges.length} charges for it`);
  }
  if (payment.initiated_by !== 'merchant' && charges.length === 0) return;
  const [there] = charges;
  if (there === undefined) return;
  if (there.id !== payment.gateway_transaction_id && status !== 'processing') add('V1', `payment ${id} names ${payment.gateway_transaction_id}, the ledger ${there.id}`);
  if (there.currency !== payment.currency || there.amount !== amount) add('V4', `payment ${id} is of ${amount} ${payment.currency} here, of ${there.amount} ${there.currency} there`);
  if (status === 'processing') return;
  const here = `captured ${captured}, refunded ${refunded}, held ${pending}`;
  const gateway = `captured ${there.amount_captured}, refunded ${there.amount_refunded}, held ${there.amount_refund_pending}`;
  if (here !== gateway) add('V4', `payment ${id} (${status}): ${here} here; ${gateway} there`);
  if ((there.status === 'voided') !== (status === 'voided' || status === 'expired')) add('V4', `payment ${id} is ${status} here and ${there.status} there`);
  if (there.status === 'voided' && captured > 0) add('V4', `payment ${id} was voided and has ${captured} captured`);
}

/** Each capture, void and refund that moved something, from both sides. */
function checkEach(rows: readonly MovementRow[], ledger: readonly LedgerEntry[], add: (invariant: 'V1' | 'V4', what: string) => void): void {
  const there = ledger.filter((entry) => entry.type !== 'charge');
  const rowOf = new Map(rows.map((row) => [row.gateway_key, row]));
  for (const entry of there) {
    const row = rowOf.get(entry.key);
    if (row === undefined || row.transaction_id !== entry.reference || row.type !== entry.type) add('V1', `${entry.type} ${entry.key} (${entry.status}) of the ledger is not known to the database`);
    else if ((entry.status === 'succeeded') !== (row.status === 'succeeded')) add('V4', `${entry.type} ${entry.key} is ${row.status} here and ${entry.status} there`);
    else if (entry.type !== 'void' && entry.status === 'succeeded' && Number(row.amount) !== entry.amount) add('V4', `${entry.type} ${entry.key} is of ${row.amount} here and ${entry.amount} there`);
  }
  const entriesOf = grouped(there, (entry) => entry.key);
  for (const row of rows) {
    const entries = entriesOf.get(row.gateway_key) ?? [];
    if (entries.length > 1) add('V1', `${row.type} ${row.gateway_key} was done ${entries.length} times`);
    if (row.status === 'succeeded' && entries.length === 0) add('V4', `${row.type} ${row.gateway_key} succeeded here and never came there`);
  }
}
