// The end of an authorisation nobody captured: a void like any other, begun when its seven days are over.
import { beginOperation } from '../models/payment-operation.ts';
import { findPaymentOfWorkflow } from '../models/payment-lapse.ts';
import type { MoneyInput } from '../temporal/contract.ts';
import type { OperationDeps } from './deps.ts';
import { lapseReason } from './settle-operation.ts';

export type BegunLapse =
  /** Captured, voided or gone: nothing to do. */
  | { readonly state: 'over'; readonly status: string }
  /** Another operation is under way, or it is not time yet. UTC milliseconds. */
  | { readonly state: 'busy'; readonly nextLookAtMs: number }
  | { readonly state: 'begun'; readonly operation: MoneyInput; readonly againAtMs: number };

/** Time for an operation under way to be settled before looking again. */
const busyWaitMs = 60_000;
/** A void the gateway refused is tried again this much later: the authorisation is still there. */
const againMs = 60 * 60_000;

export async function beginLapse(deps: OperationDeps, transactionId: string): Promise<BegunLapse> {
  const payment = await findPaymentOfWorkflow(deps.db, transactionId);
  if (payment === null) return { state: 'over', status: 'unknown' };
  const nowMs = payment.readAt.getTime();
  if (payment.status === 'processing') return { state: 'busy', nextLookAtMs: nowMs + busyWaitMs };
  if (payment.status !== 'authorized') return { state: 'over', status: payment.status };
  if (payment.lapsesAt !== null && payment.lapsesAt > payment.readAt) return { state: 'busy', nextLookAtMs: payment.lapsesAt.getTime() };
  const operation = { id: deps.newId('operation'), kind: 'void' as const, transactionId, amountMinor: null, reason: lapseReason };
  const { begun } = await beginOperation(deps.db, payment, operation, null);
  if (!begun) return { state: 'busy', nextLookAtMs: nowMs + busyWaitMs };
  return { state: 'begun', operation: { kind: 'void', operationId: operation.id, transactionId }, againAtMs: nowMs + againMs };
}
