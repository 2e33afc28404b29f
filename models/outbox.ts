// The tail of every statement that changes a state: it inserts the event rows and, for each endpoint that wants them, a
// delivery row. A delivery with nothing earlier open for its endpoint and resource is leased to this process at once;
// one for an endpoint that is switched off is recorded as `skipped`.
import { directAttemptTimeoutMs, leaseMarginMs, orderHoldMs } from '../domain/delivery-schedule.ts';
import type { EventName, ResourceType } from '../domain/event.ts';

/** An event ready to be stored: `body` is the envelope as it will be sent, byte for byte. */
export interface NewEvent {
  readonly id: string;
  readonly type: EventName;
  readonly resourceType: ResourceType;
  readonly resourceId: string;
  readonly sequence: number;
  readonly body: string;
  readonly createdAt: Date;
}

/**
 * A delivery with all it takes to send it. This process holds its lease, or, when `held`, has seen that an earlier event
 * of the same resource was still open: then it is to be looked at again, not sent.
 */
export interface LeasedDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: EventName;
  readonly endpointId: string;
  readonly merchantId: string;
  readonly mode: 'test' | 'live';
  readonly resourceId: string;
  readonly sequence: number;
  readonly url: string;
  readonly sealedSecret: string;
  readonly sealedNextSecret: string | null;
  readonly slow: boolean;
  readonly body: string;
  /** The attempt the lease was taken for, from 1. */
  readonly attempt: number;
  readonly round: number;
  readonly held: boolean;
}

/** The events as one JSON parameter for `outboxCtes`. */
export function eventsParameter(events: readonly NewEvent[]): string {
  return JSON.stringify(events);
}

/**
 * SQL text of the two CTEs `event_rows` and `delivery_rows`, to be put behind the CTE that moved the state.
 * @param moved name of a CTE with columns merchant_id and mode; when it is empty nothing is emitted
 * @param parameter placeholder number of `eventsParameter(...)`
 */
export function outboxCtes(moved: string, parameter: number): string {
  return `
    event_rows as (
      insert into events (id, merchant_id, mode, type, resource_type, resource_id, sequence, body, created_at)
      select e.id, m.merchant_id, m.mode, e.type, e."resourceType", e."resourceId", e.sequence, e.body, e."createdAt"
      from (select merchant_id, mode from ${moved} limit 1) m,
        jsonb_to_recordset($${parameter}::jsonb) as e(id text, type text, "resourceType" text, "resourceId" text,
          sequence integer, body text, "createdAt" timestamptz)
      returning id, merchant_id, mode, type, resource_id, sequence, body
    ),
    delivery_rows as (
      insert into deliveries (id, event_id, endpoint_id, merchant_id, mode, resource_id, sequence, status, attempt_count, due_at, leased_until)
      select make_id('dlv'), e.id, w.id, e.merchant_id, e.mode, e.resource_id, e.sequence,
        case when not w.enabled then 'skipped' when held.back then 'pending' else 'sending' end,
        case when held.back or not w.enabled then 0 else 1 end,
        case when not w.enabled then null when held.back then now() + interval '${orderHoldMs} milliseconds' else now() end,
        case when held.back or not w.enabled then null else now() + interval '${directAttemptTimeoutMs + leaseMarginMs} milliseconds' end
      from event_rows e
      join webhook_endpoints w on w.merchant_id = e.merchant_id and w.mode = e.mode and w.deleted_at is null
        and (w.events @> array['*'] or w.events @> array[e.type])
      cross join lateral (select exists (
          select 1 from deliveries d where d.endpoint_id = w.id and d.resource_id = e.resource_id and d.sequence < e.sequence
            and d.status in ('pending', 'sending', 'retrying')
        ) or exists (
          select 1 from event_rows s where s.resource_id = e.resource_id and s.sequence < e.sequence
            and (w.events @> array['*'] or w.events @> array[s.type])
        ) as back) held
      returning id, event_id, endpoint_id, status
    )`;
}

/** A JSON array of the deliveries made by `outboxCtes`, leased or held back, to be selected as a column; `toLeasedDeliveries` reads it. */
export const leasedDeliveriesColumn = `(
  select coalesce(json_agg(json_build_object(
    'id', d.id, 'eventId', e.id, 'eventType', e.type, 'endpointId', w.id, 'merchantId', e.merchant_id, 'mode', e.mode,
    'resourceId', e.resource_id, 'sequence', e.sequence, 'url', w.url, 'sealedSecret', w.sealed_secret,
    'sealedNextSecret', w.sealed_next_secret, 'slow', w.slow, 'attempt', 1, 'round', 1, 'held', d.status = 'pending')
    order by e.sequence), '[]')
  from delivery_rows d join event_rows e on e.id = d.event_id join webhook_endpoints w on w.id = d.endpoint_id
  where d.status in ('sending', 'pending')) as leased_deliveries`;

/** Joins the leased rows with the bodies this process just made, so that none travels twice. */
export function toLeasedDeliveries(column: readonly Omit<LeasedDelivery, 'body'>[], events: readonly NewEvent[]): LeasedDelivery[] {
  return column.map((row) => {
    const event = events.find((e) => e.id === row.eventId);
    if (event === undefined) throw new Error(`delivery ${row.id} of an event this statement did not write`);
    return { ...row, body: event.body };
  });
}
