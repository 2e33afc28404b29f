// What a money operation is answered with, from the rows alone: the first call, a retry with the same key, and the sweep
// all come to the same answer, whichever process settled it.
import { DomainError } from '../domain/errors.ts';
import type { Scope } from '../domain/mode.ts';
import type { ReservedOperation } from '../models/begin-claim.ts';
import { readOperation } from '../models/payment-operation.ts';
import { readRefund } from '../models/refund-moves.ts';
import { findTransaction, type TransactionWithRefunds } from '../models/transaction.ts';
import { presentError } from '../presenters/error.ts';
import { presentPaymentRecord } from '../presenters/payment.ts';
import { presentRefund } from '../presenters/refund.ts';
import { checkoutUrl } from './checkout-url.ts';
import type { Answer, OperationDeps } from './deps.ts';

/** 202 while the outcome is not known; then 201 or 200, 402 for a decline, 409 for a refusal, 502 when nobody was reached. */
export async function answerOf(deps: OperationDeps, scope: Scope, reserved: ReservedOperation): Promise<Answer> {
  switch (reserved.kind) {
    case 'charge':
      return answerCharge(deps, scope, reserved);
    case 'capture':
    case 'void':
      return answerOperation(deps, reserved);
    case 'refund': {
      const { refund, payment } = await readRefund(deps.db, reserved.operationId);
      return { status: 201, body: JSON.stringify(presentRefund(refund, payment)) };
    }
  }
}

/** The answer of an operation that succeeded before, for a caller who asks for the same again. */
export async function presentRecord(deps: OperationDeps, scope: { merchantId: string; mode: 'test' | 'live' }, transactionId: string): Promise<string> {
  const record = await findTransaction(deps.db, scope, transactionId);
  if (record === null) throw new DomainError('not_found', 'There is no such payment.');
  return recordText(deps, record);
}

function recordText(deps: OperationDeps, record: TransactionWithRefunds): string {
  return JSON.stringify(presentPaymentRecord(record, deps.gateways.nameOf(record.gateway)));
}

async function answerCharge(deps: OperationDeps, scope: Scope, reserved: ReservedOperation): Promise<Answer> {
  const record = await findTransaction(deps.db, scope, reserved.transactionId);
  if (record === null) throw new Error(`no payment ${reserved.transactionId}`);
  const refuse = (error: DomainError, status: number): Answer => ({ status, body: JSON.stringify(presentError(error, reserved.requestId)) });
  switch (record.status) {
    case 'pending':
    case 'processing':
      return { status: 202, body: recordText(deps, record) };
    case 'requires_action': {
      if (record.sessionId === null) return { status: 202, body: recordText(deps, record) };
      const error = new DomainError('authentication_required', 'The card\'s bank wants the customer to authenticate. Send the customer to checkout_url to finish this payment.', {
        paymentId: record.id,
        checkoutUrl: checkoutUrl(deps, record.sessionId),
      });
      return refuse(error, 402);
    }
    case 'failed': {
      const { failure } = record;
      if (failure?.code !== 'card_declined') {
        return refuse(new DomainError('gateway_unavailable', failure?.message ?? 'The card was not charged.', { paymentId: record.id }), 502);
      }
      const error = new DomainError('card_declined', failure.message, { paymentId: record.id, ...(failure.decline_code === null ? {} : { declineCode: failure.decline_code }) });
      return refuse(error, 402);
    }
    case 'authorized':
    case 'captured':
    case 'partially_refunded':
    case 'refunded':
    case 'voided':
    case 'expired':
      return { status: 201, body: recordText(deps, record) };
  }
}

async function answerOperation(deps: OperationDeps, reserved: ReservedOperation): Promise<Answer> {
  const { operation, payment } = await readOperation(deps.db, reserved.operationId);
  const refuse = (error: DomainError, status: number): Answer => ({ status, body: JSON.stringify(presentError(error, reserved.requestId)) });
  switch (operation.status) {
    case 'succeeded':
      return { status: 200, body: await presentRecord(deps, payment, payment.id) };
    case 'requested':
    case 'claimed':
    case 'unknown':
      return { status: 202, body: await presentRecord(deps, payment, payment.id) };
    case 'unreached':
      return refuse(new DomainError('gateway_unavailable', 'The gateway did not do it; the authorisation stands. Try again.', { paymentId: payment.id }), 502);
    case 'failed': {
      const code = operation.kind === 'capture' ? 'payment_not_capturable' : 'payment_not_voidable';
      return refuse(new DomainError(code, `The gateway refused the ${operation.kind} (${operation.failureCode ?? 'no reason given'}).`, { paymentId: payment.id, currentStatus: payment.status }), 409);
    }
  }
}
