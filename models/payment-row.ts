// The transactions row as the operations that move money read and write it, with the merchant's name and Postgres' clock.
import type { TransactionStatus } from '../domain/transaction.ts';
import type { Mode } from '../domain/mode.ts';

export interface PaymentRow {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly merchantName: string;
  readonly sessionId: string | null;
  readonly status: TransactionStatus;
  readonly amount: number;
  readonly amountCaptured: number;
  readonly amountRefunded: number;
  readonly amountRefundPending: number;
  readonly refundsCount: number;
  readonly currency: string;
  readonly source: string;
  readonly description: string | null;
  readonly orderId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly originDomain: string | null;
  readonly customerId: string | null;
  readonly customerName: string | null;
  readonly customerEmail: string | null;
  readonly customerPhone: string | null;
  readonly gateway: string;
  readonly gatewayTransactionId: string | null;
  readonly tokenId: string | null;
  readonly paymentTokenId: string | null;
  readonly cardBrand: string | null;
  readonly cardLast4: string | null;
  readonly receiptNumber: string;
  readonly pendingOperation: string | null;
  readonly eventSequence: number;
  readonly capture: boolean;
  readonly authorizedAt: Date | null;
  readonly capturedAt: Date | null;
  /** When the authorisation lapses, while it is one. */
  readonly lapsesAt: Date | null;
  readonly createdAt: Date;
  readonly readAt: Date;
}

/** Columns of `PaymentRow` for a statement whose `transactions` is `t` and whose `merchants` is `m`. */
export const paymentColumns = `t.id, t.merchant_id, t.mode, m.name as merchant_name, t.session_id, t.status, t.amount, t.amount_captured, t.amount_refunded,
  t.amount_refund_pending, t.refunds_count, t.currency, t.source, t.description, t.order_id, t.metadata, t.origin_domain, t.customer_id, t.customer_name,
  t.customer_email, t.customer_phone, t.gateway, t.gateway_transaction_id, t.token_id, t.payment_token_id, t.card_brand, t.card_last4, t.receipt_number,
  t.pending_operation, t.event_sequence, t.capture, t.authorized_at, t.captured_at, t.due_at as lapses_at, t.created_at, clock_timestamp() as read_at`;
