// Charging a saved card without a page: the payment, its one attempt and what became of it. Each write is one statement.
import type { ChargeOutcome } from '../domain/gateway-outcome.ts';
import type { Scope } from '../domain/mode.ts';
import type { AttemptStatus, TransactionStatus } from '../domain/transaction.ts';
import { camelRow } from './base.ts';
import { type BeginClaim, claimCte, claimed, claimParameter } from './begin-claim.ts';
import type { Database, Statement } from './database.ts';
import { eventsParameter, leasedDeliveriesColumn, type LeasedDelivery, type NewEvent, outboxCtes, toLeasedDeliveries } from './outbox.ts';
import type { AttemptCard } from './payment-attempt.ts';
import { paymentColumns, type PaymentRow } from './payment-row.ts';

/** What charging a saved card has to know beforehand, all from one read. */
export interface ChargePreconditions {
  readonly merchantName: string;
  readonly currencies: readonly string[];
  readonly token: {
    readonly id: string;
    readonly status: 'active' | 'deactivated';
    readonly gateway: string;
    readonly customerId: string;
    readonly customerName: string | null;
    readonly customerEmail: string | null;
    readonly customerPhone: string | null;
    readonly sealedReference: string;
    readonly card: AttemptCard;
  } | null;
  readonly registeredHosts: readonly string[];
  /** Gateways the merchant has an enabled account at. */
  readonly connectedGateways: readonly string[];
}

const preconditionsStatement: Statement = {
  name: 'charge-preconditions',
  text: `select m.name as merchant_name, w.currencies,
      (select json_build_object('id', k.id, 'status', k.status, 'gateway', k.gateway, 'customerId', c.id, 'customerName', c.name, 'customerEmail', c.email,
          'customerPhone', c.phone, 'sealedReference', k.sealed_reference, 'card', json_build_object('brand', k.brand, 'last4', k.last4,
          'expiryMonth', k.expiry_month, 'expiryYear', k.expiry_year, 'fingerprint', k.fingerprint))
        from payment_tokens k join customers c on c.id = k.customer_id
        where k.id = $3 and k.merchant_id = w.merchant_id and k.mode = w.mode) as token,
      array(select d.hostname from domains d where d.merchant_id = w.merchant_id and d.mode = w.mode and d.hostname = any($4::text[])) as registered_hosts,
      array(select g.gateway from gateway_accounts g where g.merchant_id = w.merchant_id and g.mode = w.mode and g.enabled) as connected_gateways
    from merchant_settings w join merchants m on m.id = w.merchant_id where w.merchant_id = $1 and w.mode = $2`,
};

export async function readChargePreconditions(db: Database, scope: Scope, tokenId: string, hosts: readonly string[]): Promise<ChargePreconditions> {
  const [row] = await db.run<object>(preconditionsStatement, [scope.merchantId, scope.mode, tokenId, hosts]);
  if (row === undefined) throw new Error(`merchant ${scope.merchantId} has no settings`);
  return camelRow<ChargePreconditions>(row);
}

export interface NewDirectCharge {
  readonly transactionId: string;
  readonly attemptId: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly capture: boolean;
  readonly description: string | null;
  readonly orderId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly receiptNumber: string;
  readonly tokenId: string;
  readonly successUrl: string | null;
  readonly failureUrl: string | null;
}

// `for share` of the token: a deactivation either comes first, and nothing is written, or waits until this has committed.
const beginStatement: Statement = {
  name: 'begin-direct-charge',
  text: `
    with token as (
      select k.id, k.merchant_id, k.mode, k.gateway, k.sealed_reference, k.customer_id, k.brand, k.last4, k.expiry_month, k.expiry_year, k.fingerprint,
        c.name as customer_name, c.email as customer_email, c.phone as customer_phone
      from payment_tokens k join customers c on c.id = k.customer_id
      where k.id = $3::jsonb ->> 'tokenId' and k.merchant_id = $1 and k.mode = $2 and k.status = 'active' for share of k
    ),
    ${claimCte('token', 4, { type: `'payment'`, id: `$3::jsonb ->> 'transactionId'` })},
    payment as (
      insert into transactions (id, merchant_id, mode, status, amount, currency, source, description, order_id, metadata, customer_id, customer_name,
        customer_email, customer_phone, gateway, payment_token_id, token_id, card_brand, card_last4, card_expiry_month, card_expiry_year, receipt_number,
        capture, initiated_by, tried_at, created_at, updated_at)
      select n."transactionId", t.merchant_id, t.mode, 'pending', n."amountMinor", n.currency, 'api', n.description, n."orderId", n.metadata, t.customer_id,
        t.customer_name, t.customer_email, t.customer_phone, t.gateway, t.id, t.id, t.brand, t.last4, t.expiry_month, t.expiry_year, n."receiptNumber",
        n.capture, 'merchant', clock_timestamp(), $5, clock_timestamp()
      from token t, jsonb_to_record($3::jsonb) as n("transactionId" text, "amountMinor" bigint, currency text, description text, "orderId" text, metadata jsonb,
        "receiptNumber" text, capture boolean)
      where ${claimed(4)}
      returning id, merchant_id, mode, gateway
    ),
    attempt as (
      insert into payment_attempts (id, transaction_id, merchant_id, mode, n, gateway, gateway_key, initiated_by, sealed_card_reference, card, token_id, payer)
      select $3::jsonb ->> 'attemptId', p.id, p.merchant_id, p.mode, 1, p.gateway, p.id || ':charge:1', 'merchant', t.sealed_reference,
        jsonb_build_object('brand', t.brand, 'last4', t.last4, 'expiryMonth', t.expiry_month, 'expiryYear', t.expiry_year, 'fingerprint', t.fingerprint), t.id,
        jsonb_build_object('successUrl', $3::jsonb ->> 'successUrl', 'failureUrl', $3::jsonb ->> 'failureUrl')
      from payment p, token t
      returning id
    )
    select (select count(*) from token)::integer as tokens, (select count(*) from attempt)::integer as begun`,
};

/** `inactive`: the token was deactivated meanwhile. `taken`: the idempotency key is another request's by now. */
export async function beginDirectCharge(db: Database, scope: Scope, charge: NewDirectCharge, claim: BeginClaim | null, now: Date): Promise<'begun' | 'inactive' | 'taken'> {
  const [row] = await db.runAlone<{ tokens: number; begun: number }>(beginStatement, [scope.merchantId, scope.mode, JSON.stringify(charge), claimParameter(claim), now]);
  if (row === undefined || row.tokens === 0) return 'inactive';
  return row.begun === 0 ? 'taken' : 'begun';
}

export interface ChargeAttempt {
  readonly id: string;
  readonly status: AttemptStatus;
  readonly gatewayKey: string;
  readonly sealedCardReference: string;
  readonly tokenId: string;
  readonly card: AttemptCard;
  readonly payer: { readonly successUrl?: string | null; readonly failureUrl?: string | null };
  readonly lookups: number;
  readonly sentAt: Date | null;
}

export interface ChargeContext {
  readonly attempt: ChargeAttempt;
  readonly payment: PaymentRow;
  /** `performance.now()` when it was read. */
  readonly readMonotonicMs: number;
}

const attemptJson = `json_build_object('id', a.id, 'status', a.status, 'gatewayKey', a.gateway_key, 'sealedCardReference', a.sealed_card_reference,
  'tokenId', a.token_id, 'card', a.card, 'payer', a.payer, 'lookups', a.lookups) as attempt, a.sent_at`;

const claimStatement: Statement = {
  name: 'claim-direct-charge',
  text: `
    with moved as (
      update payment_attempts set status = 'claimed', claimed_at = clock_timestamp(), sent_at = clock_timestamp()
      where id = $1 and status = 'requested' returning id, sent_at
    )
    select ${paymentColumns}, ${attemptJson}, (select count(*) from moved)::integer as claimed, (select sent_at from moved) as moved_at
    from payment_attempts a join transactions t on t.id = a.transaction_id join merchants m on m.id = t.merchant_id where a.id = $1`,
};

/** `claimed` tells whether this call took it; otherwise the attempt stands as its status says. */
export async function claimDirectCharge(db: Database, attemptId: string): Promise<{ claimed: boolean; context: ChargeContext }> {
  const [row] = await db.runAlone<{ claimed: number; moved_at: Date | null }>(claimStatement, [attemptId]);
  if (row === undefined) throw new Error(`no attempt ${attemptId}`);
  const context = toContext(row);
  const isClaimed = row.claimed === 1;
  return { claimed: isClaimed, context: isClaimed ? { ...context, attempt: { ...context.attempt, status: 'claimed', sentAt: row.moved_at } } : context };
}

const readStatement: Statement = {
  name: 'read-direct-charge',
  text: `select ${paymentColumns}, ${attemptJson}
    from payment_attempts a join transactions t on t.id = a.transaction_id join merchants m on m.id = t.merchant_id where a.id = $1`,
};

export async function readDirectCharge(db: Database, attemptId: string): Promise<ChargeContext> {
  const [row] = await db.run<object>(readStatement, [attemptId]);
  if (row === undefined) throw new Error(`no attempt ${attemptId}`);
  return toContext(row);
}

function toContext(row: object): ChargeContext {
  const flat = camelRow<PaymentRow & { attempt: Omit<ChargeAttempt, 'sentAt'>; sentAt: Date | null }>(row);
  return { attempt: { ...flat.attempt, sentAt: flat.sentAt }, payment: flat, readMonotonicMs: performance.now() };
}

export interface ChargeSettlement {
  readonly attemptId: string;
  readonly expected: {
    readonly attemptStatus: AttemptStatus;
    readonly sequence: number;
    /** For what concludes that nothing happened: it holds only if nobody has sent it since. Null: whenever it was sent. */
    readonly sentAt: Date | null;
  };
  readonly attempt: { readonly status: AttemptStatus; readonly outcome: ChargeOutcome | null; readonly settled: boolean; readonly lookups: number };
  readonly payment: {
    readonly status: TransactionStatus;
    readonly amountCapturedMinor: number;
    readonly gatewayTransactionId: string | null;
    readonly failure: object | null;
    readonly pendingOperation: string | null;
    readonly sequence: number;
    readonly authorizedAt: Date | null;
    readonly capturedAt: Date | null;
    readonly dueAt: Date | null;
  };
  /** The page on which the customer can authenticate, when the card's bank demanded it. */
  readonly session: { readonly id: string; readonly successUrl: string; readonly failureUrl: string; readonly expiresAt: Date } | null;
  readonly events: readonly NewEvent[];
}

const settleStatement: Statement = {
  name: 'settle-direct-charge',
  text: `
    with input as (select $2::jsonb as j),
    guard as (
      select a.id, a.transaction_id from payment_attempts a join transactions t on t.id = a.transaction_id, input
      where a.id = $1 and a.status = j -> 'expected' ->> 'attemptStatus' and t.event_sequence = (j -> 'expected' ->> 'sequence')::integer
        and t.status in ('pending', 'processing')
        and (j -> 'expected' ->> 'sentAt' is null or a.sent_at = (j -> 'expected' ->> 'sentAt')::timestamptz)
      for update of a, t
    ),
    attempt as (
      update payment_attempts a set status = n.status, outcome = n.outcome, lookups = n.lookups, settled_at = case when n.settled then clock_timestamp() end
      from guard g, input, jsonb_to_record(j -> 'attempt') as n(status text, outcome jsonb, settled boolean, lookups integer)
      where a.id = g.id returning a.id
    ),
    session as (
      insert into checkout_sessions (id, merchant_id, mode, amount, currency, description, success_url, failure_url, metadata, gateway, source, order_id,
        customer_id, customer, save_payment_method, capture, transaction_id, token_only, expires_at, due_at, created_at, updated_at)
      select n.id, t.merchant_id, t.mode, t.amount, t.currency, t.description, n."successUrl", n."failureUrl", t.metadata, t.gateway, t.source, t.order_id,
        t.customer_id, jsonb_build_object('name', t.customer_name, 'email', t.customer_email, 'phone', t.customer_phone, 'externalCustomerId', null),
        true, t.capture, t.id, t.payment_token_id, n."expiresAt", n."expiresAt", clock_timestamp(), clock_timestamp()
      from guard g join transactions t on t.id = g.transaction_id, input,
        jsonb_to_record(j -> 'session') as n(id text, "successUrl" text, "failureUrl" text, "expiresAt" timestamptz)
      where n.id is not null
      returning id
    ),
    payment as (
      update transactions t set status = n.status, amount_captured = n."amountCapturedMinor",
        gateway_transaction_id = coalesce(n."gatewayTransactionId", t.gateway_transaction_id), failure = n.failure, pending_operation = n."pendingOperation",
        event_sequence = n.sequence, authorized_at = n."authorizedAt", captured_at = n."capturedAt", due_at = n."dueAt",
        session_id = (select id from session), updated_at = clock_timestamp()
      from guard g, input, jsonb_to_record(j -> 'payment') as n(status text, "amountCapturedMinor" bigint, "gatewayTransactionId" text, failure jsonb,
        "pendingOperation" text, sequence integer, "authorizedAt" timestamptz, "capturedAt" timestamptz, "dueAt" timestamptz)
      where t.id = g.transaction_id returning t.merchant_id, t.mode
    ),
    ${outboxCtes('payment', 3)}
    select (select count(*) from payment)::integer as moved, ${leasedDeliveriesColumn}`,
};

/** @returns the leased deliveries, or null when somebody else moved the rows: read again */
export async function writeChargeSettlement(db: Database, settlement: ChargeSettlement): Promise<LeasedDelivery[] | null> {
  const { attemptId, events, ...rest } = settlement;
  const [row] = await db.runAlone<{ moved: number; leased_deliveries: Parameters<typeof toLeasedDeliveries>[0] }>(settleStatement, [
    attemptId,
    JSON.stringify({ ...rest, session: rest.session ?? {} }),
    eventsParameter(events),
  ]);
  if (row === undefined || row.moved === 0) return null;
  return toLeasedDeliveries(row.leased_deliveries, events);
}
