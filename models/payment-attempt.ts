// The payment_attempts table: one row per attempt to charge, written before anybody acts on it. At most one attempt of a
// payment is open; the partial unique index holds that against every race.
import type { AttemptStatus, TransactionStatus } from '../domain/transaction.ts';
import type { ChargeOutcome } from '../domain/gateway-outcome.ts';
import { BaseModel, camelRow } from './base.ts';
import { toSession, type SessionWithTransaction } from './checkout-session.ts';
import type { Database, Statement } from './database.ts';

export class PaymentAttempt extends BaseModel {
  static override tableName = 'payment_attempts';
}

/** The facts of the card that may be kept. */
export interface AttemptCard {
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
  readonly fingerprint: string;
}

export interface AttemptRow {
  readonly id: string;
  readonly transactionId: string;
  readonly sessionId: string;
  readonly status: AttemptStatus;
  readonly n: number;
  readonly gateway: string;
  readonly gatewayKey: string;
  readonly initiatedBy: 'cardholder' | 'merchant';
  readonly sealedCardReference: string;
  readonly card: AttemptCard;
  readonly payer: { readonly name: string | null; readonly email: string | null };
  /** The saved card this attempt charges, if it is one. */
  readonly tokenId: string | null;
  readonly actionUrl: string | null;
  readonly outcome: ChargeOutcome | null;
  readonly lookups: number;
  readonly sentAt: Date | null;
}

export interface NewAttempt {
  readonly id: string;
  readonly sessionId: string;
  readonly initiatedBy: 'cardholder' | 'merchant';
  readonly sealedCardReference: string;
  readonly card: AttemptCard;
  readonly payer: { readonly name: string | null; readonly email: string | null };
  readonly tokenId: string | null;
}

const requestStatement: Statement = {
  name: 'request-attempt',
  text: `
    with session as (
      select s.id, s.transaction_id, s.merchant_id, s.mode, s.gateway,
        (select coalesce(max(a.n), 0) + 1 from payment_attempts a where a.transaction_id = s.transaction_id) as n
      from checkout_sessions s where s.id = $2 and s.status = 'open'
    )
    insert into payment_attempts (id, transaction_id, session_id, merchant_id, mode, n, gateway, gateway_key, initiated_by, sealed_card_reference, card, payer, token_id)
    select $1, transaction_id, id, merchant_id, mode, n, gateway, transaction_id || ':charge:' || n, $3, $4, $5, $6, $7 from session
    on conflict do nothing
    returning id`,
};
const openAttemptStatement: Statement = {
  name: 'find-open-attempt',
  text: `select a.id, a.status, a.action_url from payment_attempts a
    where a.session_id = $1 and a.status in ('requested', 'claimed', 'requires_action', 'unknown')`,
};

/**
 * Writes the attempt unless the session has ended or another attempt of it is open.
 * @returns the id of the attempt that is open now (this one, or the one that was first), or null when the session has ended.
 */
export async function requestAttempt(db: Database, attempt: NewAttempt): Promise<string | null> {
  // A second look is needed only when the open attempt ended between the two statements.
  for (let tries = 0; tries < 3; tries++) {
    const [inserted] = await db.runAlone<{ id: string }>(requestStatement, [
      attempt.id,
      attempt.sessionId,
      attempt.initiatedBy,
      attempt.sealedCardReference,
      JSON.stringify(attempt.card),
      JSON.stringify(attempt.payer),
      attempt.tokenId,
    ]);
    if (inserted !== undefined) return inserted.id;
    const open = await findOpenAttempt(db, attempt.sessionId);
    if (open !== null) return open.id;
  }
  return null;
}

export interface OpenAttempt {
  readonly id: string;
  readonly status: AttemptStatus;
  readonly actionUrl: string | null;
}

export async function findOpenAttempt(db: Database, sessionId: string): Promise<OpenAttempt | null> {
  const [row] = await db.run<object>(openAttemptStatement, [sessionId]);
  return row === undefined ? null : camelRow<OpenAttempt>(row);
}

const attemptColumns = `a.id as a_id, a.status as a_status, a.n as a_n, a.gateway as a_gateway, a.gateway_key as a_gateway_key,
  a.initiated_by as a_initiated_by, a.sealed_card_reference as a_sealed_card_reference, a.card as a_card, a.payer as a_payer,
  a.token_id as a_token_id, a.action_url as a_action_url, a.outcome as a_outcome, a.lookups as a_lookups, a.sent_at as a_sent_at`;
const contextColumns = `s.*, t.status as t_status, t.receipt_number as t_receipt_number, t.card_brand as t_card_brand, t.card_last4 as t_card_last4,
  t.gateway_transaction_id as t_gateway_transaction_id, t.token_id as t_token_id, t.tried_at as t_tried_at, t.event_sequence as payment_event_sequence,
  m.name as merchant_name, ${attemptColumns},
  c.customer as known_customer, k.id as known_token_id, clock_timestamp() as read_at`;
/** The customer the payment will belong to, and the active token that customer already has for this card. */
const contextTail = `
  join merchants m on m.id = s.merchant_id
  left join lateral (
    select json_build_object('id', c.id, 'name', c.name, 'email', c.email, 'phone', c.phone) as customer, c.id from customers c
    where c.merchant_id = s.merchant_id and c.mode = s.mode
      and (c.id = s.customer_id or (s.customer_id is null and c.external_customer_id = s.customer ->> 'externalCustomerId'))
    limit 1) c on true
  left join lateral (
    select k.id from payment_tokens k where k.merchant_id = s.merchant_id and k.mode = s.mode and k.customer_id = c.id
      and k.gateway = a.gateway and k.fingerprint = a.card ->> 'fingerprint' and k.status = 'active' limit 1) k on true`;

/** Everything settling an attempt needs: attempt, session, payment, the customer and token they may be matched with. */
export interface AttemptContext {
  readonly attempt: AttemptRow;
  readonly session: SessionWithTransaction;
  readonly merchantName: string;
  readonly paymentEventSequence: number;
  readonly transactionStatus: TransactionStatus;
  readonly knownCustomer: { readonly id: string; readonly name: string | null; readonly email: string | null; readonly phone: string | null } | null;
  readonly knownTokenId: string | null;
  /** `performance.now()` when it was read: Postgres' clock at the read plus what has passed since is Postgres' clock now. */
  readonly readMonotonicMs: number;
}

/** Postgres' clock at this moment, by its reading when the context was read. UTC. */
export function clockNow(context: AttemptContext): Date {
  return new Date(context.session.readAt.getTime() + (performance.now() - context.readMonotonicMs));
}

const claimStatement: Statement = {
  name: 'claim-attempt',
  text: `
    with found as (
      select a.id, a.status, s.id as session_id, s.status as session_status, s.expires_at
      from payment_attempts a join checkout_sessions s on s.id = a.session_id where a.id = $1 for update of a, s
    ),
    moved as (
      update payment_attempts a set
        status = case when f.session_status = 'open' and clock_timestamp() < f.expires_at - $2 * interval '1 millisecond' then 'claimed' else 'refused' end,
        claimed_at = clock_timestamp(), sent_at = clock_timestamp()
      from found f where a.id = f.id and f.status = 'requested'
      returning a.id, a.status, a.sent_at
    ),
    flagged as (
      update checkout_sessions s set attempt_in_flight = true, updated_at = clock_timestamp()
      from found f, moved m where s.id = f.session_id and m.status = 'claimed'
      returning s.id
    )
    select ${contextColumns}, coalesce(mv.status, '-') as moved_to, mv.sent_at as moved_at
    from payment_attempts a join checkout_sessions s on s.id = a.session_id join transactions t on t.id = a.transaction_id
    left join moved mv on mv.id = a.id left join found f on f.id = a.id ${contextTail}
    where a.id = $1`,
};

/** `claimed`: charge now. `resumed`: an earlier run may have charged. `settled`: nothing to do. `refused`: too late or not open. */
export interface Claim {
  readonly state: 'claimed' | 'resumed' | 'settled' | 'refused';
  readonly context: AttemptContext;
}

/**
 * Takes the attempt for charging, by compare-and-set on Postgres' clock: refused from `lastClaimBeforeExpiryMs` before the
 * session's end. An attempt that was already claimed always goes on.
 * @throws Error when the attempt does not exist
 */
export async function claimAttempt(db: Database, attemptId: string, lastClaimBeforeExpiryMs: number): Promise<Claim> {
  const [row] = await db.runAlone<{ moved_to: string; moved_at: Date | null }>(claimStatement, [attemptId, lastClaimBeforeExpiryMs]);
  if (row === undefined) throw new Error(`no attempt ${attemptId}`);
  const context = toContext(row);
  if (row.moved_to === 'claimed' || row.moved_to === 'refused') {
    return { state: row.moved_to, context: { ...context, attempt: { ...context.attempt, status: row.moved_to, sentAt: row.moved_at } } };
  }
  return { state: claimStateOf(context.attempt.status), context };
}

function claimStateOf(status: AttemptStatus): Claim['state'] {
  switch (status) {
    case 'claimed':
    case 'requires_action':
    case 'unknown':
      return 'resumed';
    case 'refused':
      return 'refused';
    case 'requested':
    case 'approved':
    case 'declined':
    case 'unreached':
    case 'cancelled':
      return 'settled';
  }
}

const contextStatement: Statement = {
  name: 'read-attempt-context',
  text: `select ${contextColumns} from payment_attempts a join checkout_sessions s on s.id = a.session_id
    join transactions t on t.id = a.transaction_id ${contextTail} where a.id = $1`,
};

export async function readAttemptContext(db: Database, attemptId: string): Promise<AttemptContext> {
  const [row] = await db.run<object>(contextStatement, [attemptId]);
  if (row === undefined) throw new Error(`no attempt ${attemptId}`);
  return toContext(row);
}

function toContext(row: object): AttemptContext {
  const session = toSession(row);
  const flat = session as unknown as Record<string, unknown>;
  const attempt: Record<string, unknown> = { transactionId: session.transactionId, sessionId: session.id };
  for (const [name, value] of Object.entries(flat)) {
    if (/^a[A-Z]/.test(name)) attempt[name.charAt(1).toLowerCase() + name.slice(2)] = value;
  }
  return {
    attempt: attempt as unknown as AttemptRow,
    session,
    merchantName: flat['merchantName'] as string,
    paymentEventSequence: flat['paymentEventSequence'] as number,
    transactionStatus: session.transaction.status,
    knownCustomer: flat['knownCustomer'] as AttemptContext['knownCustomer'],
    knownTokenId: flat['knownTokenId'] as string | null,
    readMonotonicMs: performance.now(),
  };
}
