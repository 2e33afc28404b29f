// One statement that creates a session: idempotency key with its answer, session, reserved payment, event and deliveries.
// A transaction of five inserts cost half as much again (docs/adr/0002).
import type { Scope } from '../domain/mode.ts';
import { camelRow } from './base.ts';
import { claimed } from './begin-claim.ts';
import { completedClaimCte, completedClaimParameter, type StoredClaim } from './completed-claim.ts';
import type { Database, Statement } from './database.ts';
import type { SessionRow } from './checkout-session.ts';
import { eventsParameter, leasedDeliveriesColumn, type LeasedDelivery, type NewEvent, outboxCtes, toLeasedDeliveries } from './outbox.ts';

/** What creating has to know of the merchant, all from one read. */
export interface SessionPreconditions {
  readonly merchantName: string;
  readonly currencies: readonly string[];
  readonly defaultGateway: string;
  readonly customer: { readonly id: string; readonly name: string | null; readonly email: string | null; readonly phone: string | null } | null;
  readonly registeredHosts: readonly string[];
  /** Gateways the merchant has an enabled account at. */
  readonly connectedGateways: readonly string[];
}

const preconditionsStatement: Statement = {
  name: 'session-preconditions',
  text: `select m.name as merchant_name, w.currencies, w.default_gateway,
      (select json_build_object('id', c.id, 'name', c.name, 'email', c.email, 'phone', c.phone) from customers c
        where c.merchant_id = w.merchant_id and c.mode = w.mode and (c.id = $3 or c.external_customer_id = $4)
        order by c.id = $3 desc limit 1) as customer,
      array(select d.hostname from domains d where d.merchant_id = w.merchant_id and d.mode = w.mode and d.hostname = any($5::text[])) as registered_hosts,
      array(select g.gateway from gateway_accounts g where g.merchant_id = w.merchant_id and g.mode = w.mode and g.enabled) as connected_gateways
    from merchant_settings w join merchants m on m.id = w.merchant_id where w.merchant_id = $1 and w.mode = $2`,
};

/** @param hosts lower-case hostnames of the redirect addresses */
export async function readSessionPreconditions(
  db: Database,
  scope: Scope,
  wanted: { customerId: string | null; externalCustomerId: string | null; hosts: readonly string[] },
): Promise<SessionPreconditions> {
  const [row] = await db.run<object>(preconditionsStatement, [scope.merchantId, scope.mode, wanted.customerId, wanted.externalCustomerId, wanted.hosts]);
  if (row === undefined) throw new Error(`merchant ${scope.merchantId} has no settings`);
  return camelRow<SessionPreconditions>(row);
}

const createStatement: Statement = {
  name: 'create-session',
  text: `
    with ${completedClaimCte('checkout_session', 5)},
    session as (
      insert into checkout_sessions (id, merchant_id, mode, amount, currency, description, success_url, failure_url, cancel_url, line_items,
        subtotal, tax_name, tax_rate, tax_amount, metadata, gateway, source, order_id, locale, customer_id, customer, save_payment_method,
        capture, origin_domain, recovered_from, transaction_id, event_sequence, expires_at, due_at, created_at, updated_at)
      select $1, $2, $3, s.amount, s.currency, s.description, s."successUrl", s."failureUrl", s."cancelUrl", s."lineItems",
        s.subtotal, s."taxName", s."taxRate", s."taxAmount", s.metadata, s.gateway, s.source, s."orderId", s.locale, s."customerId", s.customer,
        s."savePaymentMethod", s.capture, s."originDomain", s."recoveredFrom", s."transactionId", 0, s."expiresAt", s."expiresAt", s."createdAt", s."createdAt"
      from jsonb_to_record($4::jsonb) as s(amount bigint, currency text, description text, "successUrl" text, "failureUrl" text, "cancelUrl" text,
        "lineItems" jsonb, subtotal bigint, "taxName" text, "taxRate" double precision, "taxAmount" bigint, metadata jsonb, gateway text,
        source text, "orderId" text, locale text, "customerId" text, customer jsonb, "savePaymentMethod" boolean, capture boolean,
        "originDomain" text, "recoveredFrom" text, "transactionId" text, "expiresAt" timestamptz, "createdAt" timestamptz)
      where ${claimed(5)}
      returning id, merchant_id, mode, amount, currency, source, description, order_id, metadata, origin_domain, customer_id, customer, gateway, capture, transaction_id, created_at
    ),
    payment as (
      insert into transactions (id, merchant_id, mode, session_id, amount, currency, source, description, order_id, metadata, origin_domain,
        customer_id, customer_name, customer_email, customer_phone, gateway, receipt_number, capture, event_sequence, created_at, updated_at)
      select transaction_id, merchant_id, mode, id, amount, currency, source, description, order_id, metadata, origin_domain,
        customer_id, customer ->> 'name', customer ->> 'email', customer ->> 'phone', gateway, $7, capture, 1, created_at, created_at
      from session
      returning merchant_id, mode
    ),
    ${outboxCtes('payment', 6)}
    select (select count(*) from session)::integer as created, ${leasedDeliveriesColumn}`,
};

/** @returns the deliveries leased to this process, or null when the idempotency key was taken meanwhile and nothing was written. */
export async function insertSession(
  db: Database,
  session: SessionRow,
  receiptNumber: string,
  claim: StoredClaim | null,
  events: readonly NewEvent[],
): Promise<LeasedDelivery[] | null> {
  const [row] = await db.runAlone<{ created: number; leased_deliveries: Omit<LeasedDelivery, 'body'>[] }>(createStatement, [
    session.id,
    session.merchantId,
    session.mode,
    JSON.stringify(session),
    completedClaimParameter(claim),
    eventsParameter(events),
    receiptNumber,
  ]);
  if (row === undefined || row.created === 0) return null;
  return toLeasedDeliveries(row.leased_deliveries, events);
}

const startedStatement: Statement = {
  name: 'mark-sessions-started',
  text: `update checkout_sessions set workflow_started_at = now() where id = any($1::text[]) and workflow_started_at is null`,
};

/** Remembers that the workflows of these sessions run; the sweep starts those that were never marked. */
export async function markSessionsStarted(db: Database, ids: readonly string[]): Promise<void> {
  await db.runAlone(startedStatement, [ids]);
}
