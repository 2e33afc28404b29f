// Payments by their id alone, for the workflows that own them, and the authorisations whose time is over. Unscoped: sweep
// and workflows.
import { camelRow } from './base.ts';
import type { Database, Statement } from './database.ts';
import { paymentColumns, type PaymentRow } from './payment-row.ts';

const readStatement: Statement = {
  name: 'read-payment-of-workflow',
  text: `select ${paymentColumns} from transactions t join merchants m on m.id = t.merchant_id where t.id = $1`,
};

export async function findPaymentOfWorkflow(db: Database, transactionId: string): Promise<PaymentRow | null> {
  const [row] = await db.run<object>(readStatement, [transactionId]);
  return row === undefined ? null : camelRow<PaymentRow>(row);
}

const unwatchedStatement: Statement = {
  name: 'authorizations-without-workflow',
  text: `select ${paymentColumns} from transactions t join merchants m on m.id = t.merchant_id
    where t.status = 'authorized' and t.due_at is not null and (t.workflow_started_at is null or t.due_at < now() - interval '2 minutes')
    order by t.due_at limit $1`,
};

/** Authorisations for whose lapse no workflow is known to run. */
export async function authorizationsWithoutWorkflow(db: Database, limit: number): Promise<PaymentRow[]> {
  return (await db.run<object>(unwatchedStatement, [limit])).map((row) => camelRow<PaymentRow>(row));
}

const watchedStatement: Statement = {
  name: 'mark-lapse-started',
  text: `update transactions set workflow_started_at = now() where id = any($1::text[])`,
};

export async function markLapseStarted(db: Database, ids: readonly string[]): Promise<void> {
  await db.runAlone(watchedStatement, [ids]);
}

/** An operation begun and not over, for which perhaps no workflow runs. */
export interface OpenMoneyOperation extends PaymentRow {
  readonly kind: 'charge' | 'capture' | 'void' | 'refund';
  readonly operationId: string;
}

const stuckStatement: Statement = {
  name: 'stuck-money-operations',
  text: `select ${paymentColumns}, x.kind, x.operation_id from (
      select 'charge' as kind, a.id as operation_id, a.transaction_id from payment_attempts a
        where a.session_id is null and (a.status in ('requested', 'claimed') and a.created_at < now() - interval '15 seconds'
          or a.status = 'unknown' and exists (select from transactions t where t.id = a.transaction_id and t.due_at < now() - interval '20 seconds'))
      union all
      select o.kind, o.id, o.transaction_id from payment_operations o
        where o.status in ('requested', 'claimed') and o.created_at < now() - interval '15 seconds'
          or o.status = 'unknown' and o.due_at < now() - interval '20 seconds'
      union all
      select 'refund', r.id, r.transaction_id from refunds r
        where r.status = 'pending' and (r.step in ('requested', 'claimed') and r.created_at < now() - interval '15 seconds'
          or r.step in ('unknown', 'at_gateway') and r.due_at < now() - interval '20 seconds')
      limit $1) x
    join transactions t on t.id = x.transaction_id join merchants m on m.id = t.merchant_id`,
};

/** Operations that should have moved some time ago: their workflow is started, which does nothing when it runs. */
export async function stuckMoneyOperations(db: Database, limit: number): Promise<OpenMoneyOperation[]> {
  return (await db.run<object>(stuckStatement, [limit])).map((row) => camelRow<OpenMoneyOperation>(row));
}
