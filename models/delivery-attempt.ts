// What became of each attempt. One statement writes the ends of up to 64 attempts: attempt rows, delivery states, the
// endpoints' health, and the first leases of the deliveries that were held back by one that is now over.
import type { Knex } from 'knex';
import { directAttemptTimeoutMs, disableAfterMs, leaseMarginMs, warnAfterFailures } from '../domain/delivery-schedule.ts';
import { BaseModel } from './base.ts';
import type { Database, Statement } from './database.ts';
import type { DeliveryStatus } from './delivery.ts';
import type { LeasedDelivery } from './outbox.ts';

/** Statements grow with the marks in them; beyond this a larger one was no cheaper per mark. */
export const maxMarks = 64;

/**
 * The end of an attempt. `delivered`, `retry` (again after `waitMs`), `failed` (the last one), `gone` (410), and
 * `returned`: the lease is given back unused and the delivery is due after `waitMs`.
 */
export interface AttemptMark {
  readonly deliveryId: string;
  readonly endpointId: string;
  /** The attempt's number, which its lease was taken with. */
  readonly n: number;
  readonly round: number;
  readonly verdict: 'delivered' | 'retry' | 'failed' | 'gone' | 'returned';
  readonly waitMs: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: string | null;
  readonly error: string | null;
  readonly errorStage: string | null;
  /** Whether the endpoint belongs into the slow lane after this attempt. */
  readonly slow: boolean;
}

/** A delivery after its mark. Absent from the result when somebody else had taken the lease over meanwhile. */
export interface MarkedDelivery {
  readonly deliveryId: string;
  readonly status: DeliveryStatus;
  readonly round: number;
  /** UTC milliseconds of the next attempt when it is `retrying`. */
  readonly nextAttemptAtMs: number;
}

export interface MarkedEndpoint {
  readonly endpointId: string;
  readonly consecutiveFailures: number;
  /** These marks made it fail as often in a row as is worth a warning. */
  readonly beganToFail: boolean;
  /** Set when this statement switched the endpoint off or deleted it. */
  readonly ended: 'disabled' | 'deleted' | null;
}

export interface Marked {
  readonly deliveries: readonly MarkedDelivery[];
  readonly released: readonly LeasedDelivery[];
  readonly endpoints: readonly MarkedEndpoint[];
}

export class DeliveryAttempt extends BaseModel {
  static override tableName = 'delivery_attempts';
  static override idColumn = ['delivery_id', 'n'];
  declare deliveryId: string;
  declare n: number;
  declare round: number;
  declare startedAt: Date;
  declare durationMs: number | null;
  declare statusCode: number | null;
  declare responseHeaders: Record<string, string> | null;
  declare responseBody: string | null;
  declare error: string | null;
  declare errorStage: string | null;
}

// A healthy endpoint's row is written at most this often, or its successes would queue for one row's lock.
const successNotedEverySeconds = 5;

// Nothing but failure for so long that the endpoint is given up.
const worn = `(not h.succeeded and h.failures > 0 and coalesce(w.failing_since <= now() - interval '${disableAfterMs} milliseconds', false))`;

const markStatement: Statement = {
  name: 'mark-attempts',
  text: `
    with mark as materialized (
      select * from jsonb_to_recordset($1::jsonb) as m("deliveryId" text, "endpointId" text, n integer, round integer, verdict text, "waitMs" bigint,
        "startedAt" timestamptz, "durationMs" integer, "statusCode" integer, "responseHeaders" jsonb, "responseBody" text, error text, "errorStage" text)
    ),
    health as materialized (
      select * from jsonb_to_recordset($2::jsonb) as h("endpointId" text, succeeded boolean, failures integer, slow boolean, gone boolean)
    ),
    locked as (
      -- In id order, so that two processes marking the same endpoints cannot wait for each other.
      select w.id from webhook_endpoints w join health h on h."endpointId" = w.id
      where h.failures > 0 or w.consecutive_failures > 0 or w.slow <> h.slow or w.failing_since is not null
        or w.last_success_at is null or w.last_success_at < now() - interval '${successNotedEverySeconds} seconds'
      order by w.id for no key update of w
    ),
    endpoint as (
      update webhook_endpoints w set
        slow = h.slow,
        consecutive_failures = case when h.succeeded then h.failures else w.consecutive_failures + h.failures end,
        failing_since = case when h.failures = 0 then null when h.succeeded then now() else coalesce(w.failing_since, now()) end,
        last_success_at = case when h.succeeded then now() else w.last_success_at end,
        last_failure_at = case when h.failures > 0 then now() else w.last_failure_at end,
        enabled = w.enabled and not (h.gone or ${worn}),
        disabled_at = case when w.enabled and (h.gone or ${worn}) then now() else w.disabled_at end,
        disabled_reason = case when not w.enabled then w.disabled_reason when h.gone then 'gone' when ${worn} then 'failing' end,
        deleted_at = case when h.gone and w.kind = 'automation' then coalesce(w.deleted_at, now()) else w.deleted_at end
      from health h, locked l where w.id = l.id and h."endpointId" = w.id
      returning w.id as "endpointId", w.consecutive_failures as "consecutiveFailures",
        w.consecutive_failures >= ${warnAfterFailures} and w.consecutive_failures - h.failures < ${warnAfterFailures} as "beganToFail",
        case when w.disabled_at is distinct from now()::timestamptz(3) then null when w.deleted_at is not null then 'deleted' else 'disabled' end as ended
    ),
    finished as (
      update deliveries d set
        status = case m.verdict
          when 'delivered' then 'delivered'
          when 'failed' then 'failed'
          when 'gone' then case when w.kind = 'automation' then 'cancelled' else 'failed' end
          else case when w.deleted_at is not null then 'cancelled' when not w.enabled then 'skipped' else 'retrying' end end,
        attempt_count = case when m.verdict = 'returned' then d.attempt_count - 1 else d.attempt_count end,
        due_at = case when m.verdict in ('retry', 'returned') then now() + m."waitMs" * interval '1 millisecond' end,
        leased_until = null,
        delivered_at = case when m.verdict = 'delivered' then now() end,
        last_status_code = case when m.verdict = 'returned' then d.last_status_code else m."statusCode" end,
        last_error = case when m.verdict = 'returned' then d.last_error when m.verdict = 'delivered' then null else m.error end
      from mark m, webhook_endpoints w
      where d.id = m."deliveryId" and d.round = m.round and w.id = d.endpoint_id
        -- A success counts even when the lease was lost: the receiver has it.
        and (d.status = 'sending' and d.attempt_count = m.n or m.verdict = 'delivered' and d.status in ('sending', 'retrying'))
      returning d.id, d.status, d.round, d.endpoint_id, d.resource_id, d.sequence, d.due_at
    ),
    attempt as (
      insert into delivery_attempts (delivery_id, n, round, started_at, duration_ms, status_code, response_headers, response_body, error, error_stage)
      select m."deliveryId", m.n, m.round, m."startedAt", m."durationMs", m."statusCode", m."responseHeaders", m."responseBody", m.error, m."errorStage"
      from mark m join deliveries d on d.id = m."deliveryId" where m.verdict <> 'returned'
      on conflict do nothing
    ),
    over as (select * from finished where status <> 'retrying'),
    released as (
      update deliveries d set status = 'sending', attempt_count = d.attempt_count + 1, due_at = now(),
        leased_until = now() + interval '${directAttemptTimeoutMs + leaseMarginMs} milliseconds'
      from (select endpoint_id, resource_id, min(sequence) as sequence from over group by endpoint_id, resource_id) o, webhook_endpoints w
      where w.id = d.endpoint_id and w.enabled and w.deleted_at is null and d.status = 'pending'
        and d.endpoint_id = o.endpoint_id and d.resource_id = o.resource_id and d.sequence > o.sequence
        and not exists (select from endpoint ended where ended."endpointId" = d.endpoint_id and ended.ended is not null)
        -- The next one of each line: the lowest that has nothing else open before it.
        and not exists (select from deliveries b where b.endpoint_id = d.endpoint_id and b.resource_id = d.resource_id
          and b.sequence < d.sequence and b.status in ('pending', 'sending', 'retrying') and b.id not in (select id from over))
      returning d.id, d.event_id, d.attempt_count, d.round, d.merchant_id, d.mode, d.resource_id, d.sequence,
        w.id as endpoint_id, w.url, w.sealed_secret, w.sealed_next_secret, w.slow
    )
    select
      (select coalesce(json_agg(json_build_object('deliveryId', f.id, 'status', f.status, 'round', f.round,
        'nextAttemptAtMs', round(extract(epoch from f.due_at) * 1000))), '[]') from finished f) as deliveries,
      (select coalesce(json_agg(json_build_object('id', r.id, 'eventId', e.id, 'eventType', e.type, 'endpointId', r.endpoint_id,
        'merchantId', r.merchant_id, 'mode', r.mode, 'resourceId', r.resource_id, 'sequence', r.sequence, 'attempt', r.attempt_count,
        'round', r.round, 'url', r.url, 'sealedSecret', r.sealed_secret, 'sealedNextSecret', r.sealed_next_secret, 'slow', r.slow,
        'body', e.body, 'held', false)), '[]') from released r join events e on e.id = r.event_id) as released,
      (select coalesce(json_agg(endpoint), '[]') from endpoint) as endpoints`,
};

/** Writes the ends of at most `maxMarks` attempts, each delivery at most once. */
export async function markAttempts(db: Database, marks: readonly AttemptMark[]): Promise<Marked> {
  const [row] = await db.runAlone<Marked>(markStatement, [JSON.stringify(marks), JSON.stringify(healthOf(marks))]);
  return row ?? { deliveries: [], released: [], endpoints: [] };
}

interface HealthMark {
  readonly endpointId: string;
  readonly succeeded: boolean;
  /** Since the last success among the marks. */
  readonly failures: number;
  readonly slow: boolean;
  readonly gone: boolean;
}

function healthOf(marks: readonly AttemptMark[]): HealthMark[] {
  const health = new Map<string, HealthMark>();
  for (const mark of marks) {
    if (mark.verdict === 'returned') continue;
    const before = health.get(mark.endpointId) ?? { succeeded: false, failures: 0, gone: false };
    const delivered = mark.verdict === 'delivered';
    health.set(mark.endpointId, {
      endpointId: mark.endpointId,
      succeeded: before.succeeded || delivered,
      failures: delivered ? 0 : before.failures + 1,
      slow: mark.slow,
      gone: before.gone || mark.verdict === 'gone',
    });
  }
  return [...health.values()];
}

/** All attempts of a delivery, the first one first; at most some twenty rows. The caller has checked whose it is. */
export async function listAttempts(knex: Knex, deliveryId: string): Promise<DeliveryAttempt[]> {
  return DeliveryAttempt.query(knex).where({ delivery_id: deliveryId }).orderBy('n');
}
