// Captures and voids: one row each, at most one open per payment (a partial unique index holds that), written before the
// gateway hears of it. Each write is one statement.
import type { Scope } from '../domain/mode.ts';
import type { OperationStatus } from '../domain/payment-operation.ts';
import type { TransactionStatus } from '../domain/transaction.ts';
import { camelRow } from './base.ts';
import { type BeginClaim, claimCte, claimed, claimParameter } from './begin-claim.ts';
import type { Database, Statement } from './database.ts';
import { eventsParameter, leasedDeliveriesColumn, type LeasedDelivery, type NewEvent, outboxCtes, toLeasedDeliveries } from './outbox.ts';
import { paymentColumns, type PaymentRow } from './payment-row.ts';

export type { OperationStatus } from '../domain/payment-operation.ts';

export interface NewOperation {
  readonly id: string;
  readonly kind: 'capture' | 'void';
  readonly transactionId: string;
  /** null: all that was authorised. */
  readonly amountMinor: number | null;
  readonly reason: string | null;
}

// Nothing is written unless the payment is authorised, has no operation open and the amount is within the authorisation.
const beginStatement: Statement = {
  name: 'begin-payment-operation',
  text: `
    with input as (select $3::jsonb as j),
    payment as (
      select t.id, t.merchant_id, t.mode, t.status, t.amount, t.currency, t.pending_operation,
        t.status = 'authorized' and t.pending_operation is null and coalesce((j ->> 'amountMinor')::bigint, t.amount) <= t.amount as allowed,
        (select coalesce(max(o.n), 0) + 1 from payment_operations o where o.transaction_id = t.id and o.kind = j ->> 'kind') as n
      from transactions t, input
      where t.id = j ->> 'transactionId' and t.merchant_id = $1 and t.mode = $2 for update of t
    ),
    ${claimCte('(select * from payment where allowed)', 4, { type: `'payment'`, id: `$3::jsonb ->> 'transactionId'` })},
    operation as (
      insert into payment_operations (id, kind, transaction_id, merchant_id, mode, amount, reason, gateway_key, n)
      select j ->> 'id', j ->> 'kind', p.id, p.merchant_id, p.mode, coalesce((j ->> 'amountMinor')::bigint, p.amount), j ->> 'reason',
        p.id || ':' || (j ->> 'kind') || ':' || p.n, p.n
      from payment p, input where p.allowed and ${claimed(4)}
      returning id, transaction_id, kind
    ),
    marked as (
      update transactions t set pending_operation = o.kind, updated_at = clock_timestamp() from operation o where t.id = o.transaction_id returning t.id
    )
    select p.status, p.amount, p.currency, (select m.name from merchants m where m.id = p.merchant_id) as merchant_name, p.pending_operation, p.allowed,
      (select count(*) from operation)::integer as begun from payment p`,
};

export interface BeginAnswer {
  /** null: there is no such payment of this merchant. */
  readonly payment: {
    readonly status: TransactionStatus;
    readonly amount: number;
    readonly currency: string;
    readonly merchantName: string;
    readonly pendingOperation: string | null;
    readonly allowed: boolean;
  } | null;
  readonly begun: boolean;
}

/** Begins the operation when the payment's state allows it; what it found otherwise tells why not. */
export async function beginOperation(db: Database, scope: Scope, operation: NewOperation, claim: BeginClaim | null): Promise<BeginAnswer> {
  const [row] = await db.runAlone<object>(beginStatement, [scope.merchantId, scope.mode, JSON.stringify(operation), claimParameter(claim)]);
  if (row === undefined) return { payment: null, begun: false };
  const flat = camelRow<NonNullable<BeginAnswer['payment']> & { begun: number }>(row);
  return { payment: flat, begun: flat.begun === 1 };
}

export interface OperationRow {
  readonly id: string;
  readonly kind: 'capture' | 'void';
  readonly amount: number;
  readonly reason: string | null;
  readonly status: OperationStatus;
  readonly gatewayKey: string;
  readonly failureCode: string | null;
  readonly lookups: number;
  readonly sentAt: Date | null;
}

export interface OperationContext {
  readonly operation: OperationRow;
  readonly payment: PaymentRow;
  /** `performance.now()` when it was read. */
  readonly readMonotonicMs: number;
}

const operationJson = `json_build_object('id', o.id, 'kind', o.kind, 'amount', o.amount, 'reason', o.reason, 'status', o.status, 'gatewayKey', o.gateway_key,
  'failureCode', o.failure_code, 'lookups', o.lookups) as operation, o.sent_at`;

const claimStatement: Statement = {
  name: 'claim-payment-operation',
  text: `
    with moved as (
      update payment_operations set status = 'claimed', sent_at = clock_timestamp() where id = $1 and status = 'requested' returning id, sent_at
    )
    select ${paymentColumns}, ${operationJson}, (select count(*) from moved)::integer as claimed, (select sent_at from moved) as moved_at
    from payment_operations o join transactions t on t.id = o.transaction_id join merchants m on m.id = t.merchant_id where o.id = $1`,
};

export async function claimOperation(db: Database, id: string): Promise<{ claimed: boolean; context: OperationContext }> {
  const [row] = await db.runAlone<{ claimed: number; moved_at: Date | null }>(claimStatement, [id]);
  if (row === undefined) throw new Error(`no operation ${id}`);
  const context = toContext(row);
  const isClaimed = row.claimed === 1;
  return { claimed: isClaimed, context: isClaimed ? { ...context, operation: { ...context.operation, status: 'claimed', sentAt: row.moved_at } } : context };
}

const readStatement: Statement = {
  name: 'read-payment-operation',
  text: `select ${paymentColumns}, ${operationJson}
    from payment_operations o join transactions t on t.id = o.transaction_id join merchants m on m.id = t.merchant_id where o.id = $1`,
};

export async function readOperation(db: Database, id: string): Promise<OperationContext> {
  const [row] = await db.run<object>(readStatement, [id]);
  if (row === undefined) throw new Error(`no operation ${id}`);
  return toContext(row);
}

const lastStatement: Statement = {
  name: 'last-payment-operation',
  text: `select id from payment_operations where transaction_id = $1 and kind = $2 order by n desc limit 1`,
};

/** The latest operation of a kind, or null. */
export async function findLastOperation(db: Database, transactionId: string, kind: 'capture' | 'void'): Promise<string | null> {
  const [row] = await db.run<{ id: string }>(lastStatement, [transactionId, kind]);
  return row?.id ?? null;
}

function toContext(row: object): OperationContext {
  const flat = camelRow<PaymentRow & { operation: Omit<OperationRow, 'sentAt'>; sentAt: Date | null }>(row);
  return { operation: { ...flat.operation, sentAt: flat.sentAt }, payment: flat, readMonotonicMs: performance.now() };
}

export interface OperationSettlement {
  readonly operationId: string;
  readonly expected: {
    readonly status: OperationStatus;
    readonly sequence: number;
    /** For what concludes that nothing happened: it holds only if nobody has sent it since. Null: whenever it was sent. */
    readonly sentAt: Date | null;
  };
  readonly operation: { readonly status: OperationStatus; readonly failureCode: string | null; readonly lookups: number; readonly settled: boolean; readonly dueAt: Date | null };
  readonly payment: {
    readonly status: TransactionStatus;
    readonly amountCapturedMinor: number;
    readonly pendingOperation: string | null;
    readonly sequence: number;
    readonly capturedAt: Date | null;
    readonly voidedAt: Date | null;
    /** null also ends the authorisation's lapse. */
    readonly lapsesAt: Date | null;
  };
  readonly events: readonly NewEvent[];
}

const settleStatement: Statement = {
  name: 'settle-payment-operation',
  text: `
    with input as (select $2::jsonb as j),
    guard as (
      select o.id, o.transaction_id from payment_operations o join transactions t on t.id = o.transaction_id, input
      where o.id = $1 and o.status = j -> 'expected' ->> 'status' and t.event_sequence = (j -> 'expected' ->> 'sequence')::integer
        and t.status in ('authorized', 'processing')
        and (j -> 'expected' ->> 'sentAt' is null or o.sent_at = (j -> 'expected' ->> 'sentAt')::timestamptz)
      for update of o, t
    ),
    operation as (
      update payment_operations o set status = n.status, failure_code = n."failureCode", lookups = n.lookups, due_at = n."dueAt",
        settled_at = case when n.settled then clock_timestamp() end
      from guard g, input, jsonb_to_record(j -> 'operation') as n(status text, "failureCode" text, lookups integer, settled boolean, "dueAt" timestamptz)
      where o.id = g.id returning o.id
    ),
    payment as (
      update transactions t set status = n.status, amount_captured = n."amountCapturedMinor", pending_operation = n."pendingOperation",
        event_sequence = n.sequence, captured_at = n."capturedAt", voided_at = n."voidedAt", due_at = n."lapsesAt", updated_at = clock_timestamp()
      from guard g, input, jsonb_to_record(j -> 'payment') as n(status text, "amountCapturedMinor" bigint, "pendingOperation" text, sequence integer,
        "capturedAt" timestamptz, "voidedAt" timestamptz, "lapsesAt" timestamptz)
      where t.id = g.transaction_id returning t.merchant_id, t.mode
    ),
    ${outboxCtes('payment', 3)}
    select (select count(*) from payment)::integer as moved, ${leasedDeliveriesColumn}`,
};

/** @returns the leased deliveries, or null when somebody else moved the rows: read again */
export async function writeOperationSettlement(db: Database, settlement: OperationSettlement): Promise<LeasedDelivery[] | null> {
  const { operationId, events, ...rest } = settlement;
  const [row] = await db.runAlone<{ moved: number; leased_deliveries: Parameters<typeof toLeasedDeliveries>[0] }>(settleStatement, [
    operationId,
    JSON.stringify(rest),
    eventsParameter(events),
  ]);
  if (row === undefined || row.moved === 0) return null;
  return toLeasedDeliveries(row.leased_deliveries, events);
}
