// A refund as merchants see it, by itself and in the history of its payment. A pure function of rows.
import type { RefundRow } from '../models/refund.ts';
import { type PaymentFacts, presentPayment } from './payment-payload.ts';

/** The payment's sums as they stand now, in minor units. */
export interface RefundTotals {
  readonly amountCaptured: number;
  readonly amountRefunded: number;
  readonly amountRefundPending: number;
}

/** What a refund may still take: pending ones hold their amount. Minor units. */
export function amountRefundable(payment: RefundTotals): number {
  return Math.max(0, payment.amountCaptured - payment.amountRefunded - payment.amountRefundPending);
}

export function presentRefund(refund: RefundRow, payment: RefundTotals) {
  return {
    id: refund.id,
    payment_id: refund.transactionId,
    amount: refund.amount,
    currency: refund.currency,
    status: refund.status,
    reason: refund.reason,
    type: refund.type,
    receipt_number: refund.receiptNumber,
    gateway_refund_id: refund.gatewayRefundId,
    failure_code: refund.failureCode,
    amount_refunded_total: payment.amountRefunded,
    amount_refundable: amountRefundable(payment),
    metadata: refund.metadata,
    created_at: refund.createdAt.toISOString(),
    completed_at: refund.completedAt?.toISOString() ?? null,
  };
}

/** Inside an event: the version 3 payload of the payment, what was refunded of it so far, and this refund. */
export function presentRefundEvent(payment: PaymentFacts, amountRefundedMinor: number, refund: RefundRow) {
  return {
    ...presentPayment(payment),
    amount_refunded: amountRefundedMinor,
    refund: { id: refund.id, amount: refund.amount, type: refund.type, reason: refund.reason, status: refund.status },
  };
}
