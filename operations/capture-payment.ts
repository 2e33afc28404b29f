// Captures or voids an authorised payment. Both are operations of one kind: begun once, answered from the rows.
import { DomainError } from '../domain/errors.ts';
import type { ReservedOperation } from '../models/begin-claim.ts';
import { type BeginAnswer, beginOperation, findLastOperation } from '../models/payment-operation.ts';
import { beginClaim, type Begun, begunBefore, carryOut, type MoneyDeps, type MoneyRequest } from './carry-out.ts';
import type { Answer } from './deps.ts';
import { type IdempotencyClaim, IdempotencyRace } from './idempotency.ts';

/**
 * Takes authorised money, once; the rest of the authorisation is released.
 * @param amountMinor null takes all
 * @throws DomainError not_found, capture_exceeds_authorized, payment_not_capturable, payment_outcome_pending
 */
export function capturePayment(deps: MoneyDeps, request: MoneyRequest, transactionId: string, amountMinor: number | null, claim: IdempotencyClaim | null): Promise<Answer> {
  return carryOut(deps, request, claim, () =>
    begin(deps, request, { kind: 'capture', transactionId, amountMinor, reason: null }, claim, (payment) => {
      if (payment.status !== 'authorized') {
        return new DomainError('payment_not_capturable', `Only an authorised payment can be captured, once; this one is ${payment.status}.`, { paymentId: transactionId, currentStatus: payment.status });
      }
      return new DomainError('capture_exceeds_authorized', `At most ${payment.amount} can be captured.`, { param: 'amount' });
    }),
  );
}

/**
 * Releases an authorisation. Voiding a voided payment gives the same answer again.
 * @throws DomainError not_found, payment_not_voidable, payment_outcome_pending
 */
export async function voidPayment(deps: MoneyDeps, request: MoneyRequest, transactionId: string, reason: string | null, claim: IdempotencyClaim | null): Promise<Answer> {
  return carryOut(deps, request, claim, async () => {
    try {
      return await begin(deps, request, { kind: 'void', transactionId, amountMinor: null, reason }, claim, (payment) =>
        new DomainError(
          'payment_not_voidable',
          payment.status === 'captured' ? 'This payment was captured; refund it instead.' : `Only an authorised payment can be voided; this one is ${payment.status}.`,
          { paymentId: transactionId, currentStatus: payment.status },
        ),
      );
    } catch (error) {
      if (!(error instanceof DomainError) || error.detail.currentStatus !== 'voided') throw error;
      const done = await findLastOperation(deps.db, transactionId, 'void');
      if (done === null) throw error;
      return begunBefore(deps, { kind: 'void', operationId: done, transactionId, requestId: request.requestId });
    }
  });
}

async function begin(
  deps: MoneyDeps,
  request: MoneyRequest,
  wanted: { kind: 'capture' | 'void'; transactionId: string; amountMinor: number | null; reason: string | null },
  claim: IdempotencyClaim | null,
  refuse: (payment: NonNullable<BeginAnswer['payment']>) => DomainError,
): Promise<Begun> {
  const reserved: ReservedOperation = { kind: wanted.kind, operationId: deps.newId('operation'), transactionId: wanted.transactionId, requestId: request.requestId };
  const { payment, begun } = await beginOperation(deps.db, request, { id: reserved.operationId, ...wanted }, beginClaim(claim, reserved));
  if (payment === null) throw new DomainError('not_found', 'There is no such payment.');
  if (begun) return { reserved, payment: { ...payment, id: wanted.transactionId, merchantId: request.merchantId, mode: request.mode } };
  if (payment.allowed) throw new IdempotencyRace();
  if (payment.pendingOperation !== null || payment.status === 'processing') {
    throw new DomainError('payment_outcome_pending', `The outcome of the ${payment.pendingOperation ?? 'charge'} of this payment is not known yet.`, {
      paymentId: wanted.transactionId,
      currentStatus: payment.status,
    });
  }
  throw refuse(payment);
}

