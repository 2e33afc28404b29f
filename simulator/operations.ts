// Captures, voids and refunds: idempotent by key, held to the sums of their charge. A refusal by the rules is recorded
// as a failed operation, so that the same key keeps getting the same answer.
import { randomId } from './keys.ts';
import type { Ledger } from './ledger.ts';
import { amountField, currencyField, Refusal, textField } from './refusal.ts';
import type { Fields } from './refusal.ts';
import type { ChargeRow, GatewaySlug, OperationRow, OperationType } from './rows.ts';

/** How long the refunds of the two "pending" cards stay pending. */
export const refundPendingMs = 10_000;

export interface OperationOrder {
  readonly type: OperationType;
  readonly key: string;
  readonly reference: string;
  readonly charge: string;
  /** Null for a void, which releases whatever is authorised. */
  readonly amountMinor: number | null;
  readonly currency: string | null;
}

export function readOperationOrder(type: OperationType, key: string, charge: string, fields: Fields): OperationOrder {
  return {
    type,
    key,
    reference: textField(fields, 'reference'),
    charge,
    amountMinor: type === 'void' ? null : amountField(fields),
    currency: type === 'void' ? null : currencyField(fields),
  };
}

export function runOperation(ledger: Ledger, gateway: GatewaySlug, order: OperationOrder, now: Date): OperationRow {
  const repeated = ledger.operationByKey(gateway, order.key);
  if (repeated !== undefined) return sameOperation(repeated, order);
  const charge = ledger.charge(gateway, order.charge);
  const failureCode = charge === undefined ? 'charge_not_found' : forbidden(charge, order);
  const row = newOperation(gateway, order, charge, failureCode, now);
  if (charge === undefined || failureCode !== null) ledger.write(row);
  else ledger.write(row, chargeAfter(charge, row));
  return row;
}

/** Ends a pending refund as its card says. */
export function settleRefund(ledger: Ledger, pending: OperationRow, now: Date): OperationRow {
  const charge = ledger.charge(pending.gateway, pending.charge);
  const updatedAt = now.toISOString();
  const failed = pending.settlesAs === 'failed';
  const row: OperationRow = { ...pending, status: failed ? 'failed' : 'succeeded', failureCode: failed ? 'refund_failed' : null, updatedAt };
  if (charge === undefined) throw new Error(`refund ${pending.id} has no charge`);
  ledger.write(row, {
    ...charge,
    amountRefundPendingMinor: charge.amountRefundPendingMinor - row.amountMinor,
    amountRefundedMinor: charge.amountRefundedMinor + (failed ? 0 : row.amountMinor),
    updatedAt,
  });
  return row;
}

function sameOperation(row: OperationRow, order: OperationOrder): OperationRow {
  const same =
    row.type === order.type &&
    row.charge === order.charge &&
    (order.amountMinor === null || (row.amountMinor === order.amountMinor && row.currency === order.currency));
  if (!same) throw new Refusal(409, 'idempotency_key_reused', { charged: undefined });
  return row;
}

/** The rule the order breaks, or null. */
function forbidden(charge: ChargeRow, order: OperationOrder): string | null {
  if (order.currency !== null && order.currency !== charge.currency) return 'currency_mismatch';
  const amountMinor = order.amountMinor ?? 0;
  switch (order.type) {
    case 'capture':
      if (charge.status !== 'authorized') return 'charge_not_authorized';
      return amountMinor > charge.amountMinor ? 'capture_exceeds_authorized' : null;
    case 'void':
      return charge.status === 'authorized' ? null : 'charge_not_authorized';
    case 'refund': {
      if (charge.status !== 'captured') return 'charge_not_captured';
      const left = charge.amountCapturedMinor - charge.amountRefundedMinor - charge.amountRefundPendingMinor;
      return amountMinor > left ? 'refund_exceeds_captured' : null;
    }
    default:
      return order.type satisfies never;
  }
}

function chargeAfter(charge: ChargeRow, operation: OperationRow): ChargeRow {
  const { amountMinor, updatedAt } = operation;
  switch (operation.type) {
    case 'capture':
      return { ...charge, status: 'captured', amountCapturedMinor: amountMinor, updatedAt };
    case 'void':
      return { ...charge, status: 'voided', updatedAt };
    case 'refund':
      return operation.status === 'pending'
        ? { ...charge, amountRefundPendingMinor: charge.amountRefundPendingMinor + amountMinor, updatedAt }
        : { ...charge, amountRefundedMinor: charge.amountRefundedMinor + amountMinor, updatedAt };
    default:
      return operation.type satisfies never;
  }
}

const prefixes: Record<OperationType, string> = { capture: 'sim_cap_', void: 'sim_void_', refund: 'sim_re_' };

function newOperation(gateway: GatewaySlug, order: OperationOrder, charge: ChargeRow | undefined, failureCode: string | null, now: Date): OperationRow {
  const settlesAs = order.type === 'refund' && failureCode === null ? pendingEnd(charge) : null;
  const at = now.toISOString();
  return {
    row: 'operation',
    id: randomId(prefixes[order.type]),
    type: order.type,
    gateway,
    key: order.key,
    reference: order.reference,
    charge: order.charge,
    status: failureCode !== null ? 'failed' : settlesAs !== null ? 'pending' : 'succeeded',
    amountMinor: order.amountMinor ?? charge?.amountMinor ?? 0,
    currency: order.currency ?? charge?.currency ?? null,
    failureCode,
    settlesAt: settlesAs === null ? null : new Date(now.getTime() + refundPendingMs).toISOString(),
    settlesAs,
    behaviour: charge?.behaviour ?? null,
    cardLast4: charge?.cardLast4 ?? null,
    createdAt: at,
    updatedAt: at,
  };
}

function pendingEnd(charge: ChargeRow | undefined): 'succeeded' | 'failed' | null {
  if (charge?.behaviour === 'refund_pending_succeeds') return 'succeeded';
  return charge?.behaviour === 'refund_pending_fails' ? 'failed' : null;
}
