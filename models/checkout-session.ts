// The checkout_sessions table: its row, reads by the owning merchant and listings. Moves are in the statements of
// models/session-moves.ts; nothing here changes a status.
import type { Scope } from '../domain/mode.ts';
import type { SessionStatus } from '../domain/checkout-session.ts';
import type { TransactionStatus } from '../domain/transaction.ts';
import { BaseModel, camelRow } from './base.ts';
import type { Database, Statement } from './database.ts';

export interface LineItem {
  readonly name: string;
  readonly description: string | null;
  readonly quantity: number;
  readonly unitAmountMinor: number;
  readonly sku: string | null;
  readonly imageUrl: string | null;
  readonly taxAmountMinor: number | null;
}

/** The customer as the merchant described them at creation. */
export interface SessionCustomer {
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly externalCustomerId: string | null;
}

export interface SessionRow {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: 'test' | 'live';
  readonly status: SessionStatus;
  readonly amount: number;
  readonly currency: string;
  readonly description: string | null;
  readonly successUrl: string;
  readonly failureUrl: string;
  readonly cancelUrl: string | null;
  readonly lineItems: readonly LineItem[];
  readonly subtotal: number | null;
  readonly taxName: string | null;
  readonly taxRate: number | null;
  readonly taxAmount: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly gateway: string;
  readonly source: string;
  readonly orderId: string | null;
  readonly locale: string | null;
  readonly customerId: string | null;
  readonly customer: SessionCustomer | null;
  readonly savePaymentMethod: boolean;
  readonly capture: boolean;
  readonly originDomain: string | null;
  readonly recoveredFrom: string | null;
  readonly transactionId: string;
  /** The only saved card this session may charge: it finishes a payment that needs the customer's authentication. */
  readonly tokenOnly: string | null;
  readonly attemptInFlight: boolean;
  readonly eventSequence: number;
  readonly expiresAt: Date;
  readonly completedAt: Date | null;
  readonly workflowStartedAt: Date | null;
  readonly createdAt: Date;
}

/** The payment of a session, as far as readers of the session need it. */
export interface SessionTransaction {
  readonly id: string;
  readonly status: TransactionStatus;
  readonly receiptNumber: string;
  readonly cardBrand: string | null;
  readonly cardLast4: string | null;
  readonly gatewayTransactionId: string | null;
  readonly tokenId: string | null;
  readonly triedAt: Date | null;
}

/** A session with its payment and Postgres' clock at the time of reading. */
export interface SessionWithTransaction extends SessionRow {
  readonly transaction: SessionTransaction;
  readonly readAt: Date;
}

export class CheckoutSession extends BaseModel {
  static override tableName = 'checkout_sessions';
}

const sessionColumns = `s.id, s.merchant_id, s.mode, s.status, s.amount, s.currency, s.description, s.success_url, s.failure_url,
  s.cancel_url, s.line_items, s.subtotal, s.tax_name, s.tax_rate, s.tax_amount, s.metadata, s.gateway, s.source, s.order_id, s.locale,
  s.customer_id, s.customer, s.save_payment_method, s.capture, s.origin_domain, s.recovered_from, s.transaction_id, s.token_only,
  s.attempt_in_flight, s.event_sequence, s.expires_at, s.completed_at, s.workflow_started_at, s.created_at`;
const transactionColumns = `t.status as t_status, t.receipt_number as t_receipt_number, t.card_brand as t_card_brand,
  t.card_last4 as t_card_last4, t.gateway_transaction_id as t_gateway_transaction_id, t.token_id as t_token_id, t.tried_at as t_tried_at,
  now() as read_at`;
const joined = `select ${sessionColumns}, ${transactionColumns} from checkout_sessions s join transactions t on t.id = s.transaction_id`;

const findStatement: Statement = {
  name: 'find-session',
  text: `${joined} where s.id = $1 and s.merchant_id = $2 and s.mode = $3`,
};

/** The merchant's session, or null when it is absent, another merchant's or another mode's. */
export async function findSession(db: Database, scope: Scope, id: string): Promise<SessionWithTransaction | null> {
  const [row] = await db.run<object>(findStatement, [id, scope.merchantId, scope.mode]);
  return row === undefined ? null : toSession(row);
}

export interface SessionFilter {
  readonly status?: SessionStatus | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly until?: Date | undefined;
  readonly customerId?: string | undefined;
  readonly currency?: string | undefined;
  readonly source?: string | undefined;
  readonly orderId?: string | undefined;
}

/** Newest first, id breaks ties; the inner query reads ids only, so that deep pages stay cheap. */
export async function listSessions(db: Database, scope: Scope, filter: SessionFilter, page: { limit: number; offset: number }): Promise<{ rows: SessionWithTransaction[]; total: number }> {
  const where: string[] = ['s.merchant_id = ?', 's.mode = ?'];
  const values: unknown[] = [scope.merchantId, scope.mode];
  const add = (sql: string, value: unknown): void => {
    if (value === undefined) return;
    where.push(sql);
    values.push(value);
  };
  add('s.created_at >= ?', filter.from);
  add('s.created_at < ?', filter.until);
  add('s.customer_id = ?', filter.customerId);
  add('s.currency = ?', filter.currency);
  add('s.source = ?', filter.source);
  add('s.order_id = ?', filter.orderId);
  // What a reader sees: an open session past its end, with no attempt in flight, already counts as expired.
  const overdue = `(s.status = 'open' and not s.attempt_in_flight and s.expires_at <= now())`;
  if (filter.status === 'expired') where.push(`(s.status = 'expired' or ${overdue})`);
  else if (filter.status === 'open') where.push(`(s.status = 'open' and not ${overdue})`);
  else add('s.status = ?', filter.status);
  const condition = where.join(' and ');
  const counted = await db.knex.raw<{ rows: { total: number }[] }>(`select count(*)::bigint as total from checkout_sessions s where ${condition}`, values as string[]);
  const listed = await db.knex.raw<{ rows: object[] }>(
    `${joined} join (select s.id from checkout_sessions s where ${condition} order by s.created_at desc, s.id desc limit ? offset ?) p on p.id = s.id
     order by s.created_at desc, s.id desc`,
    [...values, page.limit, page.offset] as string[],
  );
  return { rows: listed.rows.map(toSession), total: counted.rows[0]?.total ?? 0 };
}

/** Splits a joined row into the session and its transaction. */
export function toSession(row: object): SessionWithTransaction {
  const flat = camelRow<SessionRow & { readAt: Date } & Record<`t${string}`, unknown>>(row);
  return {
    ...flat,
    transaction: {
      id: flat.transactionId,
      status: flat['tStatus'] as TransactionStatus,
      receiptNumber: flat['tReceiptNumber'] as string,
      cardBrand: flat['tCardBrand'] as string | null,
      cardLast4: flat['tCardLast4'] as string | null,
      gatewayTransactionId: flat['tGatewayTransactionId'] as string | null,
      tokenId: flat['tTokenId'] as string | null,
      triedAt: flat['tTriedAt'] as Date | null,
    },
  };
}
