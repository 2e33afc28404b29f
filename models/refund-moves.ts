// Beginning, claiming and settling a refund. Its amount is held on the payment from the moment it is begun until it has
// failed; the sum is guarded by the payment's row lock and by a check constraint. Each write is one statement.
import type { Scope } from '../domain/mode.ts';
import type { RefundStep } from '../domain/refund.ts';
import { maxRefunds, type TransactionStatus } from '../domain/transaction.ts';
import { camelRow } from './base.ts';
import { type BeginClaim, claimCte, claimed, claimParameter } from './begin-claim.ts';
import type { Database, Statement } from './database.ts';
import { eventsParameter, leasedDeliveriesColumn, type LeasedDelivery, type NewEvent, outboxCtes, toLeasedDeliveries } from './outbox.ts';
import { paymentColumns, type PaymentRow } from './payment-row.ts';
import type { RefundRow } from './refund.ts';

export type { RefundStep } from '../domain/refund.ts';

export interface RefundOperation extends RefundRow {
  readonly step: RefundStep;
  readonly gatewayKey: string;
  readonly lookups: number;
  readonly sentAt: Date | null;
}

export interface NewRefund {
  readonly id: string;
  readonly transactionId: string;
  /** null: all that remains. */
  readonly amountMinor: number | null;
  readonly reason: string | null;
  readonly orderId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly receiptNumber: string;
}

const beginStatement: Statement = {
  name: 'begin-refund',
  text: `
    with input as (select $3::jsonb as j),
    found as (
      select t.id, t.merchant_id, t.mode, t.status, t.amount, t.currency, t.amount_captured, t.refunds_count, t.pending_operation,
        t.amount_captured - t.amount_refunded - t.amount_refund_pending as remaining,
        coalesce((j ->> 'amountMinor')::bigint, t.amount_captured - t.amount_refunded - t.amount_refund_pending) as wanted
      from transactions t, input
      where t.id = j ->> 'transactionId' and t.merchant_id = $1 and t.mode = $2 for update of t
    ),
    payment as (
      select *, status in ('captured', 'partially_refunded') and wanted between 1 and remaining and refunds_count < ${maxRefunds} as allowed from found
    ),
    ${claimCte('(select * from payment where allowed)', 4, { type: `'refund'`, id: `$3::jsonb ->> 'id'` })},
    refund as (
      insert into refunds (id, transaction_id, merchant_id, mode, amount, currency, type, reason, order_id, metadata, receipt_number, gateway_key, n, created_at)
      select j ->> 'id', p.id, p.merchant_id, p.mode, p.wanted, p.currency, case when p.wanted = p.amount_captured then 'full' else 'partial' end,
        j ->> 'reason', j ->> 'orderId', j -> 'metadata', j ->> 'receiptNumber', p.id || ':refund:' || (p.refunds_count + 1), p.refunds_count + 1, $5
      from payment p, input where p.allowed and ${claimed(4)}
      returning id, transaction_id, amount
    ),
    held as (
      update transactions t set amount_refund_pending = t.amount_refund_pending + r.amount, refunds_count = t.refunds_count + 1, updated_at = clock_timestamp()
      from refund r where t.id = r.transaction_id returning t.id
    )
    select p.status, p.amount, p.currency, (select m.name from merchants m where m.id = p.merchant_id) as merchant_name, p.remaining, p.refunds_count,
      p.pending_operation, p.allowed, (select count(*) from refund)::integer as begun from payment p`,
};

export interface BeginRefundAnswer {
  /** null: there is no such payment of this merchant. */
  readonly payment: {
    readonly status: TransactionStatus;
    readonly amount: number;
    readonly currency: string;
    readonly merchantName: string;
    readonly remaining: number;
    readonly refundsCount: number;
    readonly pendingOperation: string | null;
    readonly allowed: boolean;
  } | null;
  readonly begun: boolean;
}

export async function beginRefund(db: Database, scope: Scope, refund: NewRefund, claim: BeginClaim | null, now: Date): Promise<BeginRefundAnswer> {
  const values = [scope.merchantId, scope.mode, JSON.stringify(refund), claimParameter(claim), now];
  const [row] = await onFreshRows(() => db.runAlone<object>(beginStatement, values));
  if (row === undefined) return { payment: null, begun: false };
  const flat = camelRow<NonNullable<BeginRefundAnswer['payment']> & { begun: number }>(row);
  return { payment: flat, begun: flat.begun === 1 };
}

/** More stale readings than this in a row is a fault. */
const maxStaleReadings = 5;

/**
 * Postgres holds an update against the check constraints with the row as the statement's snapshot has it before it notices a
 * newer version. A refund that waited for a capture, or for another refund's failure, would be refused for sums that are past.
 * Nothing was written then; the statement is run again and sees the present ones.
 */
async function onFreshRows<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let reading = 1; ; reading++) {
    try {
      return await run();
    } catch (error) {
      const stale = error instanceof Error && 'constraint' in error && error.constraint === 'refunds_within_capture';
      if (!stale || reading === maxStaleReadings) throw error;
    }
  }
}

export interface RefundContext {
  readonly refund: RefundOperation;
  readonly payment: PaymentRow;
  /** `performance.now()` when it was read. */
  readonly readMonotonicMs: number;
}

const claimStatement: Statement = {
  name: 'claim-refund',
  text: `
    with moved as (update refunds set step = 'claimed', sent_at = clock_timestamp() where id = $1 and step = 'requested' returning id, sent_at)
    select ${paymentColumns}, to_jsonb(r) as refund, (select count(*) from moved)::integer as claimed, (select sent_at from moved) as moved_at
    from refunds r join transactions t on t.id = r.transaction_id join merchants m on m.id = t.merchant_id where r.id = $1`,
};

export async function claimRefund(db: Database, id: string): Promise<{ claimed: boolean; context: RefundContext }> {
  const [row] = await db.runAlone<{ claimed: number; moved_at: Date | null }>(claimStatement, [id]);
  if (row === undefined) throw new Error(`no refund ${id}`);
  const context = toContext(row);
  const isClaimed = row.claimed === 1;
  return { claimed: isClaimed, context: isClaimed ? { ...context, refund: { ...context.refund, step: 'claimed', sentAt: row.moved_at } } : context };
}

const readStatement: Statement = {
  name: 'read-refund-context',
  text: `select ${paymentColumns}, to_jsonb(r) as refund from refunds r join transactions t on t.id = r.transaction_id
    join merchants m on m.id = t.merchant_id where r.id = $1`,
};

/** For the workflow that owns it. */
export async function readRefund(db: Database, id: string): Promise<RefundContext> {
  const [row] = await db.run<object>(readStatement, [id]);
  if (row === undefined) throw new Error(`no refund ${id}`);
  return toContext(row);
}

/** The merchant's refund with its payment, or null when it is absent or somebody else's. */
export async function findRefund(db: Database, scope: Scope, id: string): Promise<RefundContext | null> {
  const [row] = await db.run<object>(readStatement, [id]);
  if (row === undefined) return null;
  const context = toContext(row);
  return context.refund.merchantId === scope.merchantId && context.refund.mode === scope.mode ? context : null;
}

function toContext(row: object): RefundContext {
  const flat = camelRow<PaymentRow & { refund: { created_at: string; sent_at: string | null; completed_at: string | null } }>(row);
  // Times inside a JSON column come as text.
  const date = (text: string | null): Date | null => (text === null ? null : new Date(text));
  const { created_at, sent_at, completed_at } = flat.refund;
  const refund = { ...camelRow<RefundOperation>(flat.refund), createdAt: new Date(created_at), sentAt: date(sent_at), completedAt: date(completed_at) };
  return { refund, payment: flat, readMonotonicMs: performance.now() };
}

export interface RefundSettlement {
  readonly refundId: string;
  readonly expected: {
    readonly step: RefundStep;
    readonly sequence: number;
    /** For what concludes that nothing happened: it holds only if nobody has sent it since. Null: whenever it was sent. */
    readonly sentAt: Date | null;
  };
  readonly refund: {
    readonly status: RefundRow['status'];
    readonly step: RefundStep;
    readonly gatewayRefundId: string | null;
    readonly failureCode: string | null;
    readonly lookups: number;
    readonly completedAt: Date | null;
    readonly dueAt: Date | null;
  };
  /** What moves from "held" to "refunded" or back to refundable; 0 while it is open. */
  readonly payment: { readonly status: TransactionStatus; readonly releasedMinor: number; readonly refundedMinor: number; readonly sequence: number };
  readonly events: readonly NewEvent[];
}

const settleStatement: Statement = {
  name: 'settle-refund',
  text: `
    with input as (select $2::jsonb as j),
    guard as (
      select r.id, r.transaction_id from refunds r join transactions t on t.id = r.transaction_id, input
      where r.id = $1 and r.step = j -> 'expected' ->> 'step' and t.event_sequence = (j -> 'expected' ->> 'sequence')::integer
        and (j -> 'expected' ->> 'sentAt' is null or r.sent_at = (j -> 'expected' ->> 'sentAt')::timestamptz)
      for update of r, t
    ),
    refund as (
      update refunds r set status = n.status, step = n.step, gateway_refund_id = coalesce(n."gatewayRefundId", r.gateway_refund_id), failure_code = n."failureCode",
        lookups = n.lookups, completed_at = n."completedAt", due_at = n."dueAt"
      from guard g, input, jsonb_to_record(j -> 'refund') as n(status text, step text, "gatewayRefundId" text, "failureCode" text, lookups integer,
        "completedAt" timestamptz, "dueAt" timestamptz)
      where r.id = g.id returning r.id
    ),
    payment as (
      update transactions t set status = n.status, amount_refund_pending = t.amount_refund_pending - n."releasedMinor",
        amount_refunded = t.amount_refunded + n."refundedMinor", event_sequence = n.sequence, updated_at = clock_timestamp()
      from guard g, input, jsonb_to_record(j -> 'payment') as n(status text, "releasedMinor" bigint, "refundedMinor" bigint, sequence integer)
      where t.id = g.transaction_id returning t.merchant_id, t.mode
    ),
    ${outboxCtes('payment', 3)}
    select (select count(*) from payment)::integer as moved, ${leasedDeliveriesColumn}`,
};

/** @returns the leased deliveries, or null when somebody else moved the rows: read again */
export async function writeRefundSettlement(db: Database, settlement: RefundSettlement): Promise<LeasedDelivery[] | null> {
  const { refundId, events, ...rest } = settlement;
  const [row] = await db.runAlone<{ moved: number; leased_deliveries: Parameters<typeof toLeasedDeliveries>[0] }>(settleStatement, [
    refundId,
    JSON.stringify(rest),
    eventsParameter(events),
  ]);
  if (row === undefined || row.moved === 0) return null;
  return toLeasedDeliveries(row.leased_deliveries, events);
}
