// What settling a money operation needs to know beyond the gateway's answer, and the payment as its events show it.
import type { PaymentRow } from '../models/payment-row.ts';
import type { PaymentFacts } from '../presenters/payment-payload.ts';
import type { OperationDeps } from './deps.ts';

export interface MoneyFacts {
  /** Look-ups answered so far, this one included. */
  readonly lookups: number;
  /** The gateway declared "not found" final by now. */
  readonly notFoundIsFinal: boolean;
  /** An earlier run may have sent it: reaching nobody now proves nothing. */
  readonly mayHaveBeenSent: boolean;
}

/** More lost races than this within one settling is a fault. */
export const maxSettleRaces = 5;

/** What a run heard says nothing of a send by another run since: then nothing may be concluded from silence. */
export function factsUnlessSentSince(begun: Date | null, current: Date | null, facts: MoneyFacts): MoneyFacts {
  return begun?.getTime() === current?.getTime() ? facts : { ...facts, mayHaveBeenSent: true, notFoundIsFinal: false };
}

/** Postgres' clock now, by its reading when the row was read. */
export function clockOf(read: { readonly payment: { readonly readAt: Date }; readonly readMonotonicMs: number }): Date {
  return new Date(read.payment.readAt.getTime() + (performance.now() - read.readMonotonicMs));
}

/** The payment inside an event; `changes` are what this transaction makes of it. */
export function paymentFacts(
  deps: Pick<OperationDeps, 'gateways'>,
  payment: PaymentRow,
  changes: Partial<Pick<PaymentFacts, 'status' | 'amountMinor' | 'capturedAt' | 'tokenId' | 'orderId' | 'sessionId'>>,
): PaymentFacts {
  return {
    id: payment.id,
    receiptNumber: payment.receiptNumber,
    // After a capture the captured amount, which a partial capture makes smaller than what was asked for.
    amountMinor: payment.amountCaptured > 0 ? payment.amountCaptured : payment.amount,
    currency: payment.currency,
    status: payment.status,
    mode: payment.mode,
    source: payment.source,
    originDomain: payment.originDomain,
    sessionId: payment.sessionId,
    orderId: payment.orderId,
    gateway: { name: deps.gateways.nameOf(payment.gateway), slug: payment.gateway },
    cardBrand: payment.cardBrand,
    cardLast4: payment.cardLast4,
    customer: { id: payment.customerId, name: payment.customerName, email: payment.customerEmail, phone: payment.customerPhone },
    metadata: payment.metadata,
    createdAt: payment.createdAt,
    capturedAt: payment.capturedAt,
    tokenId: payment.tokenId,
    ...changes,
  };
}
