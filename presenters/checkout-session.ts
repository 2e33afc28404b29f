// The checkout session as merchants see it: on create, on retrieve, in lists and in events. Pure functions of rows.
// Specification: Checkout session, and Transaction (as nested in a retrieved session).
import { visibleStatus } from '../domain/checkout-session.ts';
import type { LineItem, SessionRow, SessionTransaction, SessionWithTransaction } from '../models/checkout-session.ts';

export function presentCreatedSession(session: Pick<SessionRow, 'id' | 'status' | 'amount' | 'currency' | 'expiresAt'>, checkoutUrl: string) {
  return {
    id: session.id,
    status: session.status,
    amount: session.amount,
    currency: session.currency,
    checkout_url: checkoutUrl,
    expires_at: session.expiresAt.toISOString(),
  };
}

/** The answer to a payment without a token: its id stays the payment's, the customer pays on the hosted page. */
export function presentReservedPayment(session: Pick<SessionRow, 'id' | 'transactionId' | 'amount' | 'currency' | 'expiresAt'>, checkoutUrl: string) {
  return {
    id: session.transactionId,
    status: 'pending',
    amount: session.amount,
    currency: session.currency,
    session_id: session.id,
    checkout_url: checkoutUrl,
    expires_at: session.expiresAt.toISOString(),
  };
}

/** `readAt` decides whether an open session already reads as expired. */
export function presentSession(session: SessionWithTransaction) {
  return sessionFields(session, visibleStatus(session, session.readAt), session.transaction);
}

/** The session inside an event: exactly as the transaction that wrote the event left it. */
export function presentSessionSnapshot(session: SessionRow, transaction: SessionTransaction) {
  return sessionFields(session, session.status, transaction);
}

function sessionFields(session: SessionRow, status: string, transaction: SessionTransaction) {
  return {
    id: session.id,
    status,
    amount: session.amount,
    currency: session.currency,
    description: session.description,
    expires_at: session.expiresAt.toISOString(),
    completed_at: session.completedAt?.toISOString() ?? null,
    transaction: transaction.triedAt === null ? null : presentSessionTransaction(transaction),
    metadata: session.metadata,
    gateway: session.gateway,
    source: session.source,
    customer_id: session.customerId,
    customer:
      session.customer === null && session.customerId === null
        ? null
        : {
            id: session.customerId,
            name: session.customer?.name ?? null,
            email: session.customer?.email ?? null,
            phone: session.customer?.phone ?? null,
            external_customer_id: session.customer?.externalCustomerId ?? null,
          },
    line_items: session.lineItems.map(presentLineItem),
    subtotal: session.subtotal,
    tax_name: session.taxName,
    tax_rate: session.taxRate,
    tax_amount: session.taxAmount,
    success_url: session.successUrl,
    failure_url: session.failureUrl,
    cancel_url: session.cancelUrl,
    save_payment_method: session.savePaymentMethod,
    locale: session.locale,
    recovered_from: session.recoveredFrom,
    mode: session.mode,
    created_at: session.createdAt.toISOString(),
  };
}

function presentSessionTransaction(transaction: SessionTransaction) {
  return {
    id: transaction.id,
    receipt_number: transaction.receiptNumber,
    status: transaction.status,
    card_brand: transaction.cardBrand,
    card_last4: transaction.cardLast4,
    gateway_transaction_id: transaction.gatewayTransactionId,
    token_id: transaction.tokenId,
  };
}

function presentLineItem(item: LineItem) {
  return {
    name: item.name,
    description: item.description,
    quantity: item.quantity,
    unit_amount: item.unitAmountMinor,
    sku: item.sku,
    image_url: item.imageUrl,
    tax_amount: item.taxAmountMinor,
  };
}
