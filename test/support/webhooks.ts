// Factories for webhook tests: a merchant, endpoints, and events emitted the way every operation emits them.
import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';
import type { EventName } from '../../domain/event.ts';
import { makeId } from '../../domain/id.ts';
import type { Scope } from '../../domain/mode.ts';
import type { Database } from '../../models/database.ts';
import { openDatabase } from '../../models/database.ts';
import { eventsParameter, type LeasedDelivery, leasedDeliveriesColumn, type NewEvent, outboxCtes, toLeasedDeliveries } from '../../models/outbox.ts';
import { insertEndpoint, type WebhookEndpoint } from '../../models/webhook-endpoint.ts';
import { createKeyRing } from '../../platform/key-ring.ts';
import { makeEvent } from '../../webhooks/envelope.ts';
import { makeSecret, sealSecret } from '../../webhooks/secret.ts';

export const testKeyRing = createKeyRing(['a master key of the webhook tests, 32 long']);

export function openTestDatabase(url: string): Database {
  return openDatabase({ url, poolSize: 8, statementTimeoutMs: 10_000, onConnectionError: () => undefined });
}

export async function aMerchant(db: Database, mode: Scope['mode'] = 'test'): Promise<Scope> {
  const merchantId = makeId('merchant', ulid);
  await db.knex('merchants').insert({ id: merchantId, name: 'A shop' });
  await db.knex('merchant_settings').insert({ merchant_id: merchantId, mode, currencies: ['USD'] });
  return { merchantId, mode };
}

export interface TestEndpoint {
  readonly row: WebhookEndpoint;
  readonly secret: string;
}

export async function anEndpoint(
  db: Database,
  scope: Scope,
  fields: { url?: string; events?: (EventName | '*')[]; enabled?: boolean; kind?: 'endpoint' | 'automation' } = {},
): Promise<TestEndpoint> {
  const kind = fields.kind ?? 'endpoint';
  const id = makeId(kind === 'automation' ? 'automationHook' : 'endpoint', ulid);
  const secret = makeSecret(randomBytes(32));
  const row = await insertEndpoint(db.knex, scope, {
    id,
    kind,
    url: fields.url ?? 'https://shop.example/hooks',
    description: null,
    events: fields.events ?? ['*'],
    enabled: fields.enabled ?? true,
    sealedSecret: sealSecret(testKeyRing, id, secret),
  });
  return { row, secret };
}

export function anEvent(scope: Scope, fields: { type?: EventName; resourceId?: string; sequence?: number; data?: object } = {}): NewEvent {
  return makeEvent({
    id: makeId('event', ulid),
    type: fields.type ?? 'payment.completed',
    mode: scope.mode,
    createdAt: new Date(),
    sequence: fields.sequence ?? 1,
    resourceType: 'payment',
    resourceId: fields.resourceId ?? makeId('transaction', ulid),
    data: fields.data ?? { amount: 2500, currency: 'USD' },
  });
}

/** Commits the events and gives the deliveries to offer. */
export async function emit(db: Database, scope: Scope, events: readonly NewEvent[]): Promise<LeasedDelivery[]> {
  const statement = {
    name: 'test-emit',
    text: `with moved as (select $1::text as merchant_id, $2::mode_name as mode), ${outboxCtes('moved', 3)} select ${leasedDeliveriesColumn}`,
  };
  const [row] = await db.runAlone<{ leased_deliveries: LeasedDelivery[] }>(statement, [scope.merchantId, scope.mode, eventsParameter(events)]);
  return toLeasedDeliveries(row?.leased_deliveries ?? [], events);
}

export interface DeliveryRow {
  readonly id: string;
  readonly status: string;
  readonly attempt_count: number;
  readonly due_at: Date | null;
  readonly leased_until: Date | null;
  readonly last_status_code: number | null;
  readonly last_error: string | null;
  readonly workflow_started_at: Date | null;
}

export async function deliveryOf(db: Database, eventId: string): Promise<DeliveryRow> {
  const row = (await db.knex('deliveries').where({ event_id: eventId }).first()) as DeliveryRow | undefined;
  if (row === undefined) throw new Error(`no delivery of ${eventId}`);
  return row;
}
