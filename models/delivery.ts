// Deliveries: one row for each event and endpoint. Leases are taken and ends are written here, by compare-and-set, in
// single statements. Work is found by id or by time whoever owns it; what is listed for merchants is scoped.
import type { Knex } from 'knex';
import { directAttemptTimeoutMs, leaseMarginMs } from '../domain/delivery-schedule.ts';
import type { Mode, Scope } from '../domain/mode.ts';
import { BaseModel } from './base.ts';
import type { Database, Statement } from './database.ts';
import type { LeasedDelivery } from './outbox.ts';

export const deliveryStatuses = ['pending', 'sending', 'retrying', 'delivered', 'failed', 'skipped', 'cancelled'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];
/** Work that is not over; an earlier one of these holds back the later ones of its endpoint and resource. */
export const openDeliveryStatuses = ['pending', 'sending', 'retrying'] as const satisfies readonly DeliveryStatus[];

export class Delivery extends BaseModel {
  static override tableName = 'deliveries';
  declare id: string;
  declare eventId: string;
  declare endpointId: string;
  declare merchantId: string;
  declare mode: Mode;
  declare resourceId: string;
  declare sequence: number;
  declare status: DeliveryStatus;
  declare round: number;
  declare attemptCount: number;
  declare dueAt: Date | null;
  declare leasedUntil: Date | null;
  declare workflowStartedAt: Date | null;
  declare lastStatusCode: number | null;
  declare lastError: string | null;
  declare createdAt: Date;
  declare deliveredAt: Date | null;
}

/** How far Postgres' clock may be behind the timer that woke the caller. */
const dueToleranceMs = 1000;

// The columns of a LeasedDelivery, from deliveries d, events e and webhook_endpoints w.
const leasedColumns = `d.id, e.id as "eventId", e.type as "eventType", w.id as "endpointId", d.merchant_id as "merchantId", d.mode,
  d.resource_id as "resourceId", d.sequence, d.attempt_count as attempt, d.round, w.url, w.sealed_secret as "sealedSecret",
  w.sealed_next_secret as "sealedNextSecret", w.slow, e.body, false as held`;

// A delivery whose endpoint is gone or switched off is not sent, whoever comes to take it.
const takenStatus = `case when w.deleted_at is not null then 'cancelled' when not w.enabled then 'skipped' else 'sending' end`;
const isTaken = 'w.enabled and w.deleted_at is null';

function takeSql(from: string, timeoutParameter: string): string {
  return `
    update deliveries d set
      status = ${takenStatus},
      attempt_count = case when ${isTaken} then d.attempt_count + 1 else d.attempt_count end,
      due_at = case when ${isTaken} then now() end,
      leased_until = case when ${isTaken} then now() + ${timeoutParameter} * interval '1 millisecond' end
    from ${from}`;
}

const leaseStatement: Statement = {
  name: 'lease-delivery',
  text: `with taken as (
      ${takeSql('webhook_endpoints w', '$3::integer')}
      where d.id = $1 and d.round = $2 and w.id = d.endpoint_id
        and (d.status in ('pending', 'retrying') and d.due_at <= now() + interval '${dueToleranceMs} milliseconds'
          or d.status = 'sending' and d.leased_until <= now())
      returning d.id, d.status, d.attempt_count)
    select ${leasedColumns.replace('d.attempt_count', 't.attempt_count')}
    from taken t join deliveries d on d.id = t.id join events e on e.id = d.event_id join webhook_endpoints w on w.id = d.endpoint_id
    where t.status = 'sending'`,
};

/**
 * Takes the lease of a delivery that is due, or whose last holder's lease has run out.
 * @param timeoutMs of the attempt to be made; the lease outlives it by a margin
 * @returns null when it is not ours to send: somebody holds it, it is not due, it is over, or its endpoint is off
 */
export async function leaseDelivery(db: Database, id: string, round: number, timeoutMs: number): Promise<LeasedDelivery | null> {
  const [row] = await db.runAlone<LeasedDelivery>(leaseStatement, [id, round, timeoutMs + leaseMarginMs]);
  return row ?? null;
}

export interface DeliveryState {
  readonly status: DeliveryStatus;
  readonly round: number;
  readonly endpointId: string;
  readonly slow: boolean;
  /** When there is something to do again: the due time, or the end of somebody's lease. UTC milliseconds. */
  readonly nextAtMs: number;
}

const stateStatement: Statement = {
  name: 'delivery-state',
  text: `select d.status, d.round, d.endpoint_id as "endpointId", w.slow,
      extract(epoch from coalesce(case when d.status = 'sending' then d.leased_until end, d.due_at, now())) * 1000 as "nextAtMs"
    from deliveries d join webhook_endpoints w on w.id = d.endpoint_id where d.id = $1`,
};

/** Null when it was removed with its event. */
export async function readDeliveryState(db: Database, id: string): Promise<DeliveryState | null> {
  const [row] = await db.run<DeliveryState>(stateStatement, [id]);
  return row === undefined ? null : { ...row, nextAtMs: Number(row.nextAtMs) };
}

const overdueStatement: Statement = {
  name: 'take-overdue-deliveries',
  text: `with due as (
      select id from deliveries
      where status = 'pending' and due_at <= now()
        or status = 'sending' and leased_until <= now() and workflow_started_at is null
      order by due_at limit $1 for update skip locked),
    taken as (
      ${takeSql('webhook_endpoints w, due', '$2::integer')}
      where d.id = due.id and w.id = d.endpoint_id
      returning d.id, d.status, d.attempt_count)
    select ${leasedColumns.replace('d.attempt_count', 't.attempt_count')}
    from taken t join deliveries d on d.id = t.id join events e on e.id = d.event_id join webhook_endpoints w on w.id = d.endpoint_id
    where t.status = 'sending' order by d.created_at, d.sequence`,
};

/**
 * For the sweep: deliveries held back longer than allowed, and those whose sender died before a workflow had taken over.
 * They are leased to the caller, who offers them to its sender.
 */
export async function takeOverdueDeliveries(db: Database, limit: number): Promise<LeasedDelivery[]> {
  return db.runAlone<LeasedDelivery>(overdueStatement, [limit, directAttemptTimeoutMs + leaseMarginMs]);
}

const freedStatement: Statement = {
  name: 'take-freed-deliveries',
  text: `with freed as (
      select d.id from deliveries d where d.id = any($1::text[]) and d.status = 'pending'
        and not exists (select from deliveries b where b.endpoint_id = d.endpoint_id and b.resource_id = d.resource_id
          and b.sequence < d.sequence and b.status in ('pending', 'sending', 'retrying'))
      order by d.id for update skip locked),
    taken as (
      ${takeSql('webhook_endpoints w, freed', '$2::integer')}
      where d.id = freed.id and w.id = d.endpoint_id
      returning d.id, d.status)
    select id from taken where status = 'sending'`,
};

/**
 * Of these held-back deliveries, leases those that nothing holds any more. An event that commits while the one before it
 * is being marked delivered sees it as open and is not seen by the mark; without a second look it would wait a minute.
 */
export async function takeFreedDeliveries(db: Database, ids: readonly string[]): Promise<string[]> {
  const rows = await db.runAlone<{ id: string }>(freedStatement, [ids, directAttemptTimeoutMs + leaseMarginMs]);
  return rows.map((row) => row.id);
}

/** A delivery that waits for a workflow to be started, as the workflow's input needs it. */
export interface WaitingDelivery {
  readonly deliveryId: string;
  readonly round: number;
  /** UTC milliseconds. */
  readonly nextAttemptAtMs: number;
}

// A retry overdue this long has lost its workflow (terminated, or gone with its server): starting one that runs is harmless.
const overdueRetrySeconds = 120;

const unstartedStatement: Statement = {
  name: 'deliveries-without-workflow',
  text: `select id as "deliveryId", round, extract(epoch from coalesce(due_at, now())) * 1000 as "nextAttemptAtMs" from deliveries
    where status = 'retrying' and (workflow_started_at is null or due_at < now() - interval '${overdueRetrySeconds} seconds')
      or status = 'sending' and workflow_started_at is not null and leased_until < now() - interval '${overdueRetrySeconds} seconds'
    order by due_at limit $1`,
};

/** For the sweep: deliveries to be retried for which no workflow is known to run. */
export async function deliveriesWithoutWorkflow(db: Database, limit: number): Promise<WaitingDelivery[]> {
  const rows = await db.runAlone<WaitingDelivery>(unstartedStatement, [limit]);
  return rows.map((row) => ({ ...row, nextAttemptAtMs: Math.round(Number(row.nextAttemptAtMs)) }));
}

const startedStatement: Statement = {
  name: 'mark-delivery-workflows',
  text: `update deliveries set workflow_started_at = now() where id in (select id from deliveries where id = any($1::text[]) order by id for update)`,
};

/** Their workflows were started: the sweep leaves them alone from here on. */
export async function markDeliveryWorkflows(db: Database, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.runAlone(startedStatement, [ids]);
}

const endStatement: Statement = {
  name: 'end-deliveries-of-endpoint',
  text: `update deliveries set status = $2, due_at = null, leased_until = null
    where endpoint_id = $1 and status in ('pending', 'retrying')`,
};

/** Ends what waits for an endpoint that was deleted (`cancelled`) or switched off (`skipped`). Attempts under way go on. */
export async function endDeliveriesOf(db: Database, endpointId: string, status: 'cancelled' | 'skipped'): Promise<void> {
  await db.runAlone(endStatement, [endpointId, status]);
}

/** A delivery with the name of its event, for listings. */
export type ListedDelivery = Delivery & { readonly eventType: string };

/** Newest first. @param filter.before id of a delivery: only those that came before it */
export async function listDeliveries(
  knex: Knex,
  scope: Scope,
  endpointId: string,
  filter: { status?: DeliveryStatus | undefined; before?: string | undefined; limit: number },
): Promise<ListedDelivery[]> {
  const query = Delivery.query(knex)
    .alias('d')
    .join('events as e', 'e.id', 'd.event_id')
    .select('d.*', 'e.type as event_type')
    .where({ 'd.endpoint_id': endpointId, 'd.merchant_id': scope.merchantId, 'd.mode': scope.mode })
    .orderBy([{ column: 'd.created_at', order: 'desc' }, { column: 'd.id', order: 'desc' }])
    .limit(filter.limit);
  if (filter.status !== undefined) void query.where('d.status', filter.status);
  if (filter.before !== undefined) {
    void query.whereRaw('(d.created_at, d.id) < (select b.created_at, b.id from deliveries b where b.id = ? and b.endpoint_id = ?)', [filter.before, endpointId]);
  }
  return (await query) as ListedDelivery[];
}

/** Null when the endpoint of this scope has no such delivery. */
export async function findDelivery(knex: Knex, scope: Scope, endpointId: string, id: string): Promise<ListedDelivery | null> {
  const row = await Delivery.query(knex)
    .alias('d')
    .join('events as e', 'e.id', 'd.event_id')
    .select('d.*', 'e.type as event_type')
    .where({ 'd.id': id, 'd.endpoint_id': endpointId, 'd.merchant_id': scope.merchantId, 'd.mode': scope.mode })
    .first();
  return (row as ListedDelivery | undefined) ?? null;
}
