// The transactions table as readers see it: one payment with its refunds. Listings are in models/transaction-listing.ts,
// moves in the statements of those who move money; nothing here changes a row.
import type { Mode, Scope } from '../domain/mode.ts';
import type { TransactionStatus } from '../domain/transaction.ts';
import { BaseModel, camelRow } from './base.ts';
import type { Database, Statement } from './database.ts';
import type { RefundRow } from './refund.ts';

export class Transaction extends BaseModel {
  static override tableName = 'transactions';
}

/** Why a payment failed, as it is stored and shown. */
export interface StoredFailure {
  readonly code: string;
  readonly decline_code: string | null;
  readonly message: string;
  readonly retryable: boolean;
}

/** Amounts in minor units. */
export interface TransactionRow {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly sessionId: string | null;
  readonly status: TransactionStatus;
  readonly amount: number;
  readonly amountCaptured: number;
  readonly amountRefunded: number;
  readonly amountRefundPending: number;
  readonly currency: string;
  readonly source: string;
  readonly description: string | null;
  readonly orderId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly customerId: string | null;
  readonly customerName: string | null;
  readonly customerEmail: string | null;
  readonly customerPhone: string | null;
  readonly gateway: string;
  readonly gatewayTransactionId: string | null;
  /** The card saved by this payment, or the saved one it charges. */
  readonly tokenId: string | null;
  readonly cardBrand: string | null;
  readonly cardLast4: string | null;
  readonly cardExpiryMonth: number | null;
  readonly cardExpiryYear: number | null;
  readonly receiptNumber: string;
  readonly failure: StoredFailure | null;
  readonly pendingOperation: string | null;
  readonly createdAt: Date;
  readonly authorizedAt: Date | null;
  readonly capturedAt: Date | null;
  readonly voidedAt: Date | null;
}

/** One payment with what only its own record shows. */
export interface TransactionWithRefunds extends TransactionRow {
  /** Oldest first. */
  readonly refunds: readonly RefundRow[];
}

/** Columns of `TransactionRow` for a statement whose `transactions` is `t`, its status as it stands. */
export const transactionColumns = `t.id, t.merchant_id, t.mode, t.session_id, t.amount, t.amount_captured, t.amount_refunded, t.amount_refund_pending,
  t.currency, t.source, t.description, t.order_id, t.metadata, t.customer_id, t.customer_name, t.customer_email, t.customer_phone, t.gateway,
  t.gateway_transaction_id, coalesce(t.token_id, t.payment_token_id) as token_id, t.card_brand, t.card_last4, t.card_expiry_month, t.card_expiry_year,
  t.receipt_number, t.failure, t.pending_operation, t.created_at, t.authorized_at, t.captured_at, t.voided_at`;

// A payment reserved for a session that is over by the clock reads as expired, as the session itself does.
const findStatement: Statement = {
  name: 'find-transaction',
  text: `select ${transactionColumns},
      case when t.status = 'pending' and s.status = 'open' and not s.attempt_in_flight and s.expires_at <= now() then 'expired' else t.status end as status,
      (select json_agg(r order by r.n) from refunds r where r.transaction_id = t.id) as refunds
    from transactions t left join checkout_sessions s on s.id = t.session_id
    where t.id = $1 and t.merchant_id = $2 and t.mode = $3`,
};

/** The merchant's payment, or null when it is absent, another merchant's or another mode's. */
export async function findTransaction(db: Database, scope: Scope, id: string): Promise<TransactionWithRefunds | null> {
  const [row] = await db.run<{ refunds: object[] | null }>(findStatement, [id, scope.merchantId, scope.mode]);
  if (row === undefined) return null;
  return { ...camelRow<TransactionRow>(row), refunds: (row.refunds ?? []).map(toRefund) };
}

/** JSON has no timestamps: they come as text. */
function toRefund(json: object): RefundRow {
  const row = camelRow<Omit<RefundRow, 'createdAt' | 'completedAt'> & { createdAt: string; completedAt: string | null }>(json);
  return { ...row, createdAt: new Date(row.createdAt), completedAt: row.completedAt === null ? null : new Date(row.completedAt) };
}
