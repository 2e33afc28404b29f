// Refunds a captured payment, in full or in parts. Specification: Payments and tokens.
import { randomBytes } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import { makeReceiptNumber } from '../domain/receipt-number.ts';
import { maxRefunds } from '../domain/transaction.ts';
import type { ReservedOperation } from '../models/begin-claim.ts';
import { beginRefund, type BeginRefundAnswer } from '../models/refund-moves.ts';
import { beginClaim, carryOut, type MoneyDeps, type MoneyRequest } from './carry-out.ts';
import type { Answer } from './deps.ts';
import { type IdempotencyClaim, IdempotencyRace } from './idempotency.ts';

export interface RefundInput {
  readonly transactionId: string;
  /** null: all that remains. */
  readonly amountMinor: number | null;
  readonly reason: string | null;
  readonly orderId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * @returns 201 with the refund, also while the gateway works on it (`pending`) or when it refused (`failed`)
 * @throws DomainError not_found, refund_exceeds_remaining, payment_not_refundable, payment_outcome_pending, refund_limit_reached
 */
export function refundPayment(deps: MoneyDeps, request: MoneyRequest, input: RefundInput, claim: IdempotencyClaim | null): Promise<Answer> {
  return carryOut(deps, request, claim, async () => {
    const reserved: ReservedOperation = { kind: 'refund', operationId: deps.newId('refund'), transactionId: input.transactionId, requestId: request.requestId };
    const refund = { ...input, id: reserved.operationId, receiptNumber: makeReceiptNumber(request.now, randomBytes(5)) };
    const { payment, begun } = await beginRefund(deps.db, request, refund, beginClaim(claim, reserved), request.now);
    if (payment === null) throw new DomainError('not_found', 'There is no such payment.');
    if (begun) return { reserved, payment: { ...payment, id: input.transactionId, merchantId: request.merchantId, mode: request.mode } };
    if (payment.allowed) throw new IdempotencyRace();
    throw refuse(payment, input);
  });
}

function refuse(payment: NonNullable<BeginRefundAnswer['payment']>, input: RefundInput): DomainError {
  const detail = { paymentId: input.transactionId, currentStatus: payment.status };
  if (payment.status === 'processing') return new DomainError('payment_outcome_pending', 'The outcome of this payment is not known yet.', detail);
  if (payment.status !== 'captured' && payment.status !== 'partially_refunded') {
    return new DomainError('payment_not_refundable', `Only a captured payment can be refunded; this one is ${payment.status}.`, detail);
  }
  if (payment.remaining < 1) return new DomainError('payment_not_refundable', 'Nothing of this payment remains to be refunded.', detail);
  if (payment.refundsCount >= maxRefunds) return new DomainError('refund_limit_reached', `A payment can have at most ${maxRefunds} refunds.`, detail);
  return new DomainError('refund_exceeds_remaining', `At most ${payment.remaining} can be refunded.`, { param: 'amount' });
}
