// A payment whose gateway never gave an answer, with the step that is open, for the operator who settles it by hand.
import type { Mode } from '../domain/mode.ts';
import type { TransactionStatus } from '../domain/transaction.ts';
import { camelRow } from './base.ts';
import type { Database, Statement } from './database.ts';

export interface UnsettledPayment {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly status: TransactionStatus;
  readonly gateway: string;
  readonly gatewayTransactionId: string | null;
  /** null when nothing is open. */
  readonly open: {
    readonly kind: 'charge' | 'capture' | 'void';
    readonly operationId: string;
    /** The session whose attempt it is; null for payments without a page. */
    readonly sessionId: string | null;
    readonly lookups: number;
    /** Milliseconds since it was last sent, by Postgres' clock. */
    readonly ageMs: number;
  } | null;
}

const findStatement: Statement = {
  name: 'find-unsettled-payment',
  text: `
    select t.id, t.merchant_id, t.mode, t.status, t.gateway, t.gateway_transaction_id, w.open
    from transactions t left join lateral (
      select json_build_object('kind', o.kind, 'operationId', o.id, 'sessionId', o.session_id, 'lookups', o.lookups,
          'ageMs', floor(extract(epoch from clock_timestamp() - o.sent_at) * 1000)) as open
      from (
        select 'charge' as kind, a.id, a.session_id, a.lookups, coalesce(a.sent_at, a.created_at) as sent_at
          from payment_attempts a where a.transaction_id = t.id and a.status = 'unknown'
        union all
        select p.kind, p.id, null, p.lookups, coalesce(p.sent_at, p.created_at) from payment_operations p where p.transaction_id = t.id and p.status = 'unknown'
      ) o limit 1
    ) w on true
    where t.id = $1`,
};

/** Unscoped: the operator answers for every merchant. */
export async function findUnsettledPayment(db: Database, paymentId: string): Promise<UnsettledPayment | null> {
  const [row] = await db.run<object>(findStatement, [paymentId]);
  return row === undefined ? null : camelRow<UnsettledPayment>(row);
}
