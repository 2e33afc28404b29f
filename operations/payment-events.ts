// The event bodies of sessions and their payments, made from the rows as the same transaction leaves them.
import type { EventName, ResourceType } from '../domain/event.ts';
import type { SessionRow, SessionTransaction } from '../models/checkout-session.ts';
import type { NewEvent } from '../models/outbox.ts';
import { presentSessionSnapshot } from '../presenters/checkout-session.ts';
import { presentPayment, type PaymentFacts, type PaymentFailure } from '../presenters/payment-payload.ts';
import { makeEvent } from '../webhooks/envelope.ts';
import type { OperationDeps } from './deps.ts';

/** The payment of a session as an event shows it; `changes` are what this transaction makes of it. */
export function paymentOfSession(
  deps: Pick<OperationDeps, 'gateways'>,
  session: SessionRow,
  receiptNumber: string,
  changes: Pick<PaymentFacts, 'status' | 'capturedAt' | 'tokenId' | 'cardBrand' | 'cardLast4' | 'customer'> & { amountMinor?: number },
): PaymentFacts {
  return {
    id: session.transactionId,
    receiptNumber,
    amountMinor: changes.amountMinor ?? session.amount,
    currency: session.currency,
    status: changes.status,
    mode: session.mode,
    source: session.source,
    originDomain: session.originDomain,
    sessionId: session.id,
    orderId: session.orderId,
    gateway: { name: deps.gateways.nameOf(session.gateway), slug: session.gateway },
    cardBrand: changes.cardBrand,
    cardLast4: changes.cardLast4,
    customer: changes.customer,
    metadata: session.metadata,
    createdAt: session.createdAt,
    capturedAt: changes.capturedAt,
    tokenId: changes.tokenId,
  };
}

export function paymentEvent(
  deps: Pick<OperationDeps, 'newId'>,
  type: EventName,
  payment: PaymentFacts,
  sequence: number,
  createdAt: Date,
  failure?: PaymentFailure,
): NewEvent {
  return makeEvent({ id: deps.newId('event'), type, mode: payment.mode, createdAt, sequence, resourceType: 'payment', resourceId: payment.id, data: presentPayment(payment, failure) });
}

export function sessionEvent(
  deps: Pick<OperationDeps, 'newId'>,
  type: EventName,
  session: SessionRow,
  transaction: SessionTransaction,
  sequence: number,
  createdAt: Date,
): NewEvent {
  const resourceType: ResourceType = 'checkout_session';
  return makeEvent({ id: deps.newId('event'), type, mode: session.mode, createdAt, sequence, resourceType, resourceId: session.id, data: presentSessionSnapshot(session, transaction) });
}
