// The payment record as merchants see it, on retrieve and in listings. The payload of events is another shape, in
// presenters/payment-payload.ts. Pure functions of rows. Specification: Transaction.
import type { TransactionRow, TransactionWithRefunds } from '../models/transaction.ts';
import { amountRefundable, presentRefund } from './refund.ts';

/** @param gatewayName the name behind the row's gateway slug */
export function presentPaymentRecord(row: TransactionWithRefunds, gatewayName: string) {
  const { dispute, pending_operation, failure, metadata, created_at, authorized_at, captured_at, voided_at, ...before } = presentPaymentItem(row, gatewayName);
  return {
    ...before,
    custom_field_responses: [],
    refunds: row.refunds.map((refund) => presentRefund(refund, row)),
    dispute,
    pending_operation,
    failure,
    metadata,
    created_at,
    authorized_at,
    captured_at,
    voided_at,
  };
}

/** The record without what may be long: refunds and answers to custom fields. */
export function presentPaymentItem(row: TransactionRow, gatewayName: string) {
  return {
    id: row.id,
    receipt_number: row.receiptNumber,
    status: row.status,
    amount: row.amount,
    amount_captured: row.amountCaptured,
    amount_refunded: row.amountRefunded,
    amount_refundable: amountRefundable(row),
    currency: row.currency,
    mode: row.mode,
    source: row.source,
    description: row.description,
    customer: presentPayer(row),
    payment_method: {
      type: 'card',
      card_brand: row.cardBrand,
      card_last4: row.cardLast4,
      expiry_month: row.cardExpiryMonth,
      expiry_year: row.cardExpiryYear,
    },
    card_brand: row.cardBrand,
    card_last4: row.cardLast4,
    gateway: { name: gatewayName, slug: row.gateway },
    gateway_transaction_id: row.gatewayTransactionId,
    token_id: row.tokenId,
    session_id: row.sessionId,
    subscription_id: null,
    payment_link: null,
    order_id: row.orderId,
    dispute: null,
    pending_operation: row.pendingOperation,
    failure: row.failure,
    metadata: row.metadata,
    created_at: row.createdAt.toISOString(),
    authorized_at: row.authorizedAt?.toISOString() ?? null,
    captured_at: row.capturedAt?.toISOString() ?? null,
    voided_at: row.voidedAt?.toISOString() ?? null,
  };
}

/** Who paid, as known at the time; null while nothing is known. */
function presentPayer(row: TransactionRow) {
  const { customerId: id, customerName: name, customerEmail: email, customerPhone: phone } = row;
  return [id, name, email, phone].every((fact) => fact === null) ? null : { id, name, email, phone };
}
