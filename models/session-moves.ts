// The statements that move a session and its payment. Each is a compare-and-set: a guard locks the rows and checks that
// they are as the caller read them; state, event rows, deliveries, customer and token then change together or not at all.
import type { SessionStatus } from '../domain/checkout-session.ts';
import type { AttemptStatus, TransactionStatus } from '../domain/transaction.ts';
import type { ChargeOutcome } from '../domain/gateway-outcome.ts';
import { camelRow } from './base.ts';
import { toSession, type SessionWithTransaction } from './checkout-session.ts';
import type { Database, Statement } from './database.ts';
import { eventsParameter, leasedDeliveriesColumn, type LeasedDelivery, type NewEvent, outboxCtes, toLeasedDeliveries } from './outbox.ts';

/** What settling writes. Fields left out keep their value; `expected` is what the caller read. */
export interface Settlement {
  readonly attemptId: string;
  readonly expected: {
    readonly attemptStatuses: readonly AttemptStatus[];
    readonly sessionSequence: number;
    readonly paymentSequence: number;
    /** For what concludes that nothing was charged: it holds only if nobody has sent the charge since. Null: whenever it was sent. */
    readonly sentAt: Date | null;
  };
  readonly attempt: { readonly status: AttemptStatus; readonly outcome: ChargeOutcome | null; readonly actionUrl: string | null; readonly settled: boolean; readonly lookups: number };
  readonly session: { readonly status: SessionStatus; readonly attemptInFlight: boolean; readonly dueAt: Date | null; readonly completedAt: Date | null; readonly sequence: number; readonly customerId: string | null };
  readonly payment: {
    readonly status: TransactionStatus;
    readonly amountCapturedMinor: number;
    readonly gatewayTransactionId: string | null;
    readonly failure: object | null;
    readonly sequence: number;
    readonly tried: boolean;
    readonly authorizedAt: Date | null;
    readonly capturedAt: Date | null;
    /** When an authorisation lapses. */
    readonly lapsesAt: Date | null;
    readonly tokenId: string | null;
    readonly customer: { readonly id: string | null; readonly name: string | null; readonly email: string | null; readonly phone: string | null };
    readonly card: { readonly brand: string; readonly last4: string; readonly expiryMonth: number; readonly expiryYear: number };
  };
  readonly newCustomer: { readonly id: string; readonly externalCustomerId: string | null; readonly name: string | null; readonly email: string | null; readonly phone: string | null } | null;
  readonly newToken: { readonly id: string; readonly customerId: string; readonly gateway: string; readonly fingerprint: string; readonly sealedReference: string } | null;
  readonly events: readonly NewEvent[];
}

const settleStatement: Statement = {
  name: 'settle-attempt',
  text: `
    with input as (select $2::jsonb as j),
    guard as (
      select a.id, a.session_id, a.transaction_id, a.merchant_id, a.mode
      from payment_attempts a join checkout_sessions s on s.id = a.session_id join transactions t on t.id = a.transaction_id, input
      where a.id = $1 and s.status = 'open'
        and a.status in (select jsonb_array_elements_text(j -> 'expected' -> 'attemptStatuses'))
        and s.event_sequence = (j -> 'expected' ->> 'sessionSequence')::integer
        and t.event_sequence = (j -> 'expected' ->> 'paymentSequence')::integer
        and (j -> 'expected' ->> 'sentAt' is null or a.sent_at = (j -> 'expected' ->> 'sentAt')::timestamptz)
      for update of a, s, t
    ),
    attempt as (
      update payment_attempts a set status = n.status, outcome = n.outcome, action_url = n."actionUrl", lookups = n.lookups,
        settled_at = case when n.settled then clock_timestamp() end
      from guard g, input, jsonb_to_record(j -> 'attempt') as n(status text, outcome jsonb, "actionUrl" text, settled boolean, lookups integer)
      where a.id = g.id
      returning a.id
    ),
    customer as (
      insert into customers (id, merchant_id, mode, external_customer_id, name, email, phone)
      select n.id, g.merchant_id, g.mode, n."externalCustomerId", n.name, n.email, n.phone
      from guard g, input, jsonb_to_record(j -> 'newCustomer') as n(id text, "externalCustomerId" text, name text, email text, phone text)
      where n.id is not null
      returning id
    ),
    token as (
      insert into payment_tokens (id, merchant_id, mode, customer_id, gateway, brand, last4, expiry_month, expiry_year, fingerprint, sealed_reference)
      select n.id, g.merchant_id, g.mode, n."customerId", n.gateway, c.brand, c.last4, c."expiryMonth", c."expiryYear", n.fingerprint, n."sealedReference"
      from guard g, input, jsonb_to_record(j -> 'newToken') as n(id text, "customerId" text, gateway text, fingerprint text, "sealedReference" text),
        jsonb_to_record(j -> 'payment' -> 'card') as c(brand text, last4 text, "expiryMonth" smallint, "expiryYear" smallint)
      where n.id is not null
      returning id
    ),
    session as (
      update checkout_sessions s set status = n.status, attempt_in_flight = n."attemptInFlight", due_at = n."dueAt",
        completed_at = n."completedAt", event_sequence = n.sequence, customer_id = coalesce(n."customerId", s.customer_id), updated_at = clock_timestamp()
      from guard g, input, jsonb_to_record(j -> 'session') as n(status text, "attemptInFlight" boolean, "dueAt" timestamptz, "completedAt" timestamptz,
        sequence integer, "customerId" text)
      where s.id = g.session_id
      returning s.id
    ),
    payment as (
      update transactions t set status = n.status, amount_captured = n."amountCapturedMinor", gateway_transaction_id = n."gatewayTransactionId",
        failure = n.failure, event_sequence = n.sequence, tried_at = case when n.tried then coalesce(t.tried_at, clock_timestamp()) else t.tried_at end,
        authorized_at = n."authorizedAt", captured_at = n."capturedAt", due_at = n."lapsesAt", token_id = n."tokenId",
        customer_id = n.customer ->> 'id', customer_name = n.customer ->> 'name', customer_email = n.customer ->> 'email', customer_phone = n.customer ->> 'phone',
        card_brand = n.card ->> 'brand', card_last4 = n.card ->> 'last4', card_expiry_month = (n.card ->> 'expiryMonth')::smallint,
        card_expiry_year = (n.card ->> 'expiryYear')::smallint, updated_at = clock_timestamp()
      from guard g, input, jsonb_to_record(j -> 'payment') as n(status text, "amountCapturedMinor" bigint, "gatewayTransactionId" text, failure jsonb,
        sequence integer, tried boolean, "authorizedAt" timestamptz, "capturedAt" timestamptz, "lapsesAt" timestamptz, "tokenId" text, customer jsonb, card jsonb)
      where t.id = g.transaction_id
      returning t.merchant_id, t.mode
    ),
    ${outboxCtes('payment', 3)}
    select (select count(*) from payment)::integer as moved, ${leasedDeliveriesColumn}`,
};

/**
 * Writes the settlement if everything still is as it was read.
 * @returns the deliveries leased to this process, or null when somebody else moved the rows: read again.
 */
export async function writeSettlement(db: Database, settlement: Settlement): Promise<LeasedDelivery[] | null> {
  const { attemptId, events, ...rest } = settlement;
  const [row] = await db.runAlone<{ moved: number; leased_deliveries: Omit<LeasedDelivery, 'body'>[] }>(settleStatement, [
    attemptId,
    // jsonb_to_record takes objects only; an empty one has no id and writes no row.
    JSON.stringify({ ...rest, newCustomer: rest.newCustomer ?? {}, newToken: rest.newToken ?? {} }),
    eventsParameter(events),
  ]);
  if (row === undefined || row.moved === 0) return null;
  return toLeasedDeliveries(row.leased_deliveries, events);
}

const endStatement: Statement = {
  name: 'end-session',
  text: `
    with guard as (
      select s.id, s.transaction_id, s.merchant_id, s.mode from checkout_sessions s
      where s.id = $1 and s.status = 'open' and not s.attempt_in_flight and s.event_sequence = $3
        and ($4::boolean or s.expires_at <= clock_timestamp())
      for update
    ),
    session as (
      update checkout_sessions s set status = $2, due_at = null, event_sequence = $3 + 1, updated_at = clock_timestamp()
      from guard g where s.id = g.id
      returning s.merchant_id, s.mode
    ),
    payment as (
      update transactions t set status = 'expired', updated_at = clock_timestamp()
      from guard g where t.id = g.transaction_id and t.status in ('pending', 'requires_action')
      returning t.id
    ),
    ${outboxCtes('session', 5)}
    select (select count(*) from session)::integer as moved, ${leasedDeliveriesColumn}`,
};

/**
 * Ends an open session without a payment. Refuses while an attempt is in flight.
 * @param now false waits for `expires_at` on Postgres' clock
 * @returns the leased deliveries, or null when the session was not as read, in flight, or not due
 */
export async function writeSessionEnd(
  db: Database,
  end: { sessionId: string; to: 'expired' | 'cancelled'; sequence: number; now: boolean; events: readonly NewEvent[] },
): Promise<LeasedDelivery[] | null> {
  const [row] = await db.runAlone<{ moved: number; leased_deliveries: Omit<LeasedDelivery, 'body'>[] }>(endStatement, [
    end.sessionId,
    end.to,
    end.sequence,
    end.now,
    eventsParameter(end.events),
  ]);
  if (row === undefined || row.moved === 0) return null;
  return toLeasedDeliveries(row.leased_deliveries, end.events);
}

const sessionForEndStatement: Statement = {
  name: 'read-session-for-end',
  text: `select s.*, t.status as t_status, t.receipt_number as t_receipt_number, t.card_brand as t_card_brand, t.card_last4 as t_card_last4,
      t.gateway_transaction_id as t_gateway_transaction_id, t.token_id as t_token_id, t.tried_at as t_tried_at, clock_timestamp() as read_at
    from checkout_sessions s join transactions t on t.id = s.transaction_id where s.id = $1`,
};

/** A session by its id alone, for the workflow that owns it. */
export async function readSessionOfWorkflow(db: Database, sessionId: string): Promise<SessionWithTransaction | null> {
  const [row] = await db.run<object>(sessionForEndStatement, [sessionId]);
  return row === undefined ? null : toSession(row);
}

const unstartedStatement: Statement = {
  name: 'unstarted-sessions',
  text: `select s.id, s.merchant_id, s.mode, s.amount, s.currency, s.expires_at, m.name as merchant_name, s.attempt_in_flight
    from checkout_sessions s join merchants m on m.id = s.merchant_id
    where s.status = 'open' and s.workflow_started_at is null and s.created_at < now() - interval '5 seconds'
    order by s.created_at limit $1`,
};
const overdueStatement: Statement = {
  name: 'overdue-sessions',
  text: `select s.id, s.merchant_id, s.mode, s.amount, s.currency, s.expires_at, m.name as merchant_name
    from checkout_sessions s join merchants m on m.id = s.merchant_id
    where s.status = 'open' and s.due_at < now() - interval '20 seconds'
    order by s.due_at limit $1`,
};
const stuckAttemptsStatement: Statement = {
  name: 'stuck-attempts',
  text: `select a.id as attempt_id, s.id, s.merchant_id, s.mode, s.amount, s.currency, s.expires_at, m.name as merchant_name
    from payment_attempts a join checkout_sessions s on s.id = a.session_id join merchants m on m.id = s.merchant_id
    where a.status in ('requested', 'claimed') and a.created_at < now() - interval '15 seconds'
    order by a.created_at limit $1`,
};

/** What starting a session's workflow takes. */
export interface StartableSession {
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly mode: 'test' | 'live';
  readonly amount: number;
  readonly currency: string;
  readonly expiresAt: Date;
}

/** Unscoped: the sweep works for every merchant. One with an attempt in flight has lost its workflow and has work to do now. */
export async function sessionsWithoutWorkflow(db: Database, limit: number): Promise<(StartableSession & { attemptInFlight: boolean })[]> {
  return (await db.run<object>(unstartedStatement, [limit])).map((row) => camelRow<StartableSession & { attemptInFlight: boolean }>(row));
}

/** Open sessions whose workflow should have moved them some time ago. Unscoped: sweep. */
export async function overdueSessions(db: Database, limit: number): Promise<StartableSession[]> {
  return (await db.run<object>(overdueStatement, [limit])).map((row) => camelRow<StartableSession>(row));
}

/** Attempts requested or claimed for more than 15 s. Unscoped: sweep. */
export async function stuckAttempts(db: Database, limit: number): Promise<(StartableSession & { attemptId: string })[]> {
  return (await db.run<object>(stuckAttemptsStatement, [limit])).map((row) => camelRow<StartableSession & { attemptId: string }>(row));
}

/** A new or emptied Temporal server knows none of our workflows: every open row counts as not started. */
export async function forgetStartedWorkflows(db: Database): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw(`update checkout_sessions set workflow_started_at = null where status = 'open' and workflow_started_at is not null`);
    await trx.raw(`update card_setup_sessions set workflow_started_at = null where status = 'open' and workflow_started_at is not null`);
    await trx.raw(`update transactions set workflow_started_at = null where status = 'authorized' and workflow_started_at is not null`);
    await trx.raw(`update deliveries set workflow_started_at = null where status in ('pending', 'sending', 'retrying') and workflow_started_at is not null`);
  });
}
