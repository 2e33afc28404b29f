// Attempts, captures, voids and refunds whose answer a gateway still owes: what a notification is about, and what is asked
// after when a gateway answers again. Unscoped by design: notifications and the sweep work for every merchant.
import type { Mode, Scope } from '../domain/mode.ts';
import { camelRow } from './base.ts';
import type { Database, Statement } from './database.ts';

export interface OpenGatewayWork {
  readonly kind: 'charge' | 'capture' | 'void' | 'refund' | 'late';
  /** The attempt, operation or refund. */
  readonly operationId: string;
  readonly transactionId: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly mode: Mode;
  /** Of the payment, in minor units. */
  readonly amount: number;
  readonly currency: string;
  /** The session whose workflow owns the attempt; null for payments without a page. */
  readonly session: { readonly id: string; readonly expiresAt: Date } | null;
}

const described = `
  select w.kind, w.operation_id, w.transaction_id, t.merchant_id, m.name as merchant_name, t.mode, t.amount, t.currency,
    s.id as session_id, s.expires_at as session_expires_at, w.gateway_key
  from w join transactions t on t.id = w.transaction_id join merchants m on m.id = t.merchant_id left join checkout_sessions s on s.id = w.session_id`;

const byReferenceStatement: Statement = {
  name: 'open-gateway-work-by-reference',
  text: `
    with w as (
      select 'charge' as kind, a.id as operation_id, a.transaction_id, a.session_id, a.gateway_key
        from payment_attempts a where a.transaction_id = $2 and a.gateway = $1 and a.status in ('requires_action', 'unknown')
      union all
      select o.kind, o.id, o.transaction_id, null, o.gateway_key from payment_operations o where o.transaction_id = $2 and o.status = 'unknown'
      union all
      select 'refund', r.id, r.transaction_id, null, r.gateway_key from refunds r
        where r.transaction_id = $2 and r.status = 'pending' and r.step in ('unknown', 'at_gateway')
      union all
      select 'late', a.id, a.transaction_id, null, a.gateway_key from payment_attempts a
        where a.transaction_id = $2 and a.gateway = $1 and a.gateway_key = $5 and a.status in ('declined', 'unreached', 'cancelled', 'refused')
    )
    ${described} where t.gateway = $1 and ($3::text is null or (t.merchant_id = $3 and t.mode::text = $4))`,
};

/**
 * What is open of one payment: the operation with this key, or everything when none has it.
 * @param about our reference (the payment's id) and, where the gateway tells it, the key of the operation
 * @param owner the account that proved the notification; null where the installation itself is known to the gateway
 */
export async function findOpenGatewayWork(db: Database, gateway: string, about: { reference: string; key: string | null }, owner: Scope | null): Promise<OpenGatewayWork[]> {
  const rows = await db.run<{ gateway_key: string }>(byReferenceStatement, [gateway, about.reference, owner?.merchantId ?? null, owner?.mode ?? null, about.key]);
  const named = rows.filter((row) => row.gateway_key === about.key);
  // Some gateways keep the charge's key on everything that is done to the charge later.
  return (named.length > 0 ? named : rows).map(toWork);
}

const unknownStatement: Statement = {
  name: 'unknown-gateway-work',
  text: `
    with w as (
      select 'charge' as kind, a.id as operation_id, a.transaction_id, a.session_id, a.gateway_key from payment_attempts a where a.gateway = $1 and a.status = 'unknown'
      union all
      select o.kind, o.id, o.transaction_id, null, o.gateway_key from payment_operations o where o.status = 'unknown'
      union all
      select 'refund', r.id, r.transaction_id, null, r.gateway_key from refunds r where r.status = 'pending' and r.step = 'unknown'
    )
    ${described} where t.gateway = $1 order by t.updated_at limit $2`,
};

/** Everything of a gateway whose outcome is unknown. */
export async function unknownGatewayWork(db: Database, gateway: string, limit: number): Promise<OpenGatewayWork[]> {
  return (await db.run<object>(unknownStatement, [gateway, limit])).map(toWork);
}

function toWork(row: object): OpenGatewayWork {
  const flat = camelRow<Omit<OpenGatewayWork, 'session'> & { sessionId: string | null; sessionExpiresAt: Date | null; gatewayKey: string }>(row);
  const { sessionId, sessionExpiresAt, gatewayKey: _, ...work } = flat;
  return { ...work, session: sessionId === null || sessionExpiresAt === null ? null : { id: sessionId, expiresAt: sessionExpiresAt } };
}
