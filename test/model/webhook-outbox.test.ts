// Which deliveries a commit makes, in which state, and how leases are taken and given back: statements alone, no network.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isId } from '../../domain/id.ts';
import type { Database } from '../../models/database.ts';
import { deliveriesWithoutWorkflow, endDeliveriesOf, leaseDelivery, markDeliveryWorkflows, readDeliveryState, takeFreedDeliveries, takeOverdueDeliveries } from '../../models/delivery.ts';
import { type AttemptMark, markAttempts } from '../../models/delivery-attempt.ts';
import { deleteOldEvents } from '../../models/event.ts';
import type { LeasedDelivery } from '../../models/outbox.ts';
import { changeEndpoint, deleteEndpoint, findEndpoint } from '../../models/webhook-endpoint.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { aMerchant, anEndpoint, anEvent, deliveryOf, emit, openTestDatabase } from '../support/webhooks.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase();
  db = openTestDatabase(database.url);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

function aMark(delivery: LeasedDelivery, fields: Partial<AttemptMark> = {}): AttemptMark {
  return {
    deliveryId: delivery.id,
    endpointId: delivery.endpointId,
    n: delivery.attempt,
    round: delivery.round,
    verdict: 'delivered',
    waitMs: 0,
    startedAt: new Date(),
    durationMs: 12,
    statusCode: 200,
    responseHeaders: { 'content-type': 'text/plain' },
    responseBody: 'ok',
    error: null,
    errorStage: null,
    slow: false,
    ...fields,
  };
}
const failure: Partial<AttemptMark> = { verdict: 'retry', waitMs: 5000, statusCode: 500, error: 'the receiver answered 500', slow: true };

describe('make_id', () => {
  test('gives ids of the same form as ours, in the order of time', async () => {
    const rows = await database.query<{ id: string }>("select make_id('dlv') as id from generate_series(1, 200)");
    const ids = rows.map((row) => row.id);
    expect(ids.every((id) => isId('delivery', id))).toBe(true);
    expect(new Set(ids).size).toBe(200);
    const times = ids.map((id) => id.slice(4, 14));
    expect([...times].sort()).toEqual(times);
    // The time of a ULID is its first ten characters in base 32.
    const ms = [...(times[0] as string)].reduce((sum, letter) => sum * 32 + '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(letter), 0);
    expect(Math.abs(ms - Date.now())).toBeLessThan(60_000);
  });
});

describe('a commit', () => {
  test('makes one leased delivery for each endpoint that wants the event', async () => {
    const scope = await aMerchant(db);
    const all = await anEndpoint(db, scope);
    const some = await anEndpoint(db, scope, { events: ['payment.completed', 'payment.failed'] });
    await anEndpoint(db, scope, { events: ['payment.failed'] });
    await anEndpoint(db, await aMerchant(db));
    const event = anEvent(scope);
    const offered = await emit(db, scope, [event]);
    expect(new Set(offered.map((delivery) => delivery.endpointId))).toEqual(new Set([all.row.id, some.row.id]));
    expect(offered.every((delivery) => !delivery.held && delivery.attempt === 1 && delivery.body === event.body)).toBe(true);
  });

  test('emits nothing when no state moved', async () => {
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const event = anEvent(scope);
    expect(await emit(db, { ...scope, merchantId: 'mer_none' }, [event])).toEqual([]);
  });

  test('stores the body byte for byte', async () => {
    const scope = await aMerchant(db);
    const event = anEvent(scope, { data: { note: 'Zoë "quoted" \\ </script> 🛒 \u2028', n: 1e21 } });
    await emit(db, scope, [event]);
    const [row] = await database.query<{ body: string }>('select body from events where id = $1', [event.id]);
    expect(row?.body).toBe(event.body);
  });

  test('records deliveries to a switched-off endpoint as skipped and those to a deleted one not at all', async () => {
    const scope = await aMerchant(db);
    const off = await anEndpoint(db, scope, { enabled: false });
    const gone = await anEndpoint(db, scope);
    await db.transaction((trx) => deleteEndpoint(trx, scope, gone.row.id));
    const event = anEvent(scope);
    expect(await emit(db, scope, [event])).toEqual([]);
    const rows = await database.query<{ endpoint_id: string; status: string }>('select endpoint_id, status from deliveries where event_id = $1', [event.id]);
    expect(rows).toEqual([{ endpoint_id: off.row.id, status: 'skipped' }]);
  });

  test('holds a later event of a resource back while an earlier one is open', async () => {
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const first = anEvent(scope, { type: 'payment.created' });
    const second = anEvent(scope, { resourceId: first.resourceId, sequence: 2 });
    const other = anEvent(scope);
    await emit(db, scope, [first]);
    const offered = await emit(db, scope, [second, other]);
    expect(offered.map((delivery) => [delivery.eventId, delivery.held]).sort()).toEqual([[second.id, true], [other.id, false]].sort());
    expect((await deliveryOf(db, second.id)).status).toBe('pending');
  });

  test('holds a later event back when both are made by one commit', async () => {
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const first = anEvent(scope);
    const second = anEvent(scope, { resourceId: first.resourceId, sequence: 2 });
    const offered = await emit(db, scope, [first, second]);
    expect(offered.map((delivery) => delivery.held)).toEqual([false, true]);
  });
});

describe('the end of an attempt', () => {
  test('records the attempt and the delivery', async () => {
    const scope = await aMerchant(db);
    const { row } = await anEndpoint(db, scope);
    const event = anEvent(scope);
    const [delivery] = await emit(db, scope, [event]);
    const marked = await markAttempts(db, [aMark(delivery!)]);
    expect(marked.deliveries).toMatchObject([{ deliveryId: delivery!.id, status: 'delivered' }]);
    const attempts = await database.query('select n, round, duration_ms, status_code, response_headers, response_body, error from delivery_attempts where delivery_id = $1', [delivery!.id]);
    expect(attempts).toEqual([{ n: 1, round: 1, duration_ms: 12, status_code: 200, response_headers: { 'content-type': 'text/plain' }, response_body: 'ok', error: null }]);
    expect(await deliveryOf(db, event.id)).toMatchObject({ status: 'delivered', leased_until: null, due_at: null, last_status_code: 200 });
    expect(await findEndpoint(db.knex, scope, row.id)).toMatchObject({ consecutiveFailures: 0, failingSince: null, slow: false });
  });

  test('frees the next event of the resource, and only the next', async () => {
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const first = anEvent(scope);
    const second = anEvent(scope, { resourceId: first.resourceId, sequence: 2 });
    const third = anEvent(scope, { resourceId: first.resourceId, sequence: 3 });
    const [delivery] = await emit(db, scope, [first, second, third]);
    const marked = await markAttempts(db, [aMark(delivery!)]);
    expect(marked.released).toMatchObject([{ eventId: second.id, attempt: 1, held: false, body: second.body, url: delivery!.url }]);
    const next = await markAttempts(db, [aMark(marked.released[0]!)]);
    expect(next.released.map((released) => released.eventId)).toEqual([third.id]);
  });

  test('a failure keeps the next one held and is due again after its wait', async () => {
    const scope = await aMerchant(db);
    const { row } = await anEndpoint(db, scope);
    const first = anEvent(scope);
    const second = anEvent(scope, { resourceId: first.resourceId, sequence: 2 });
    const [delivery] = await emit(db, scope, [first, second]);
    const marked = await markAttempts(db, [aMark(delivery!, failure)]);
    expect(marked.released).toEqual([]);
    expect(marked.deliveries[0]).toMatchObject({ status: 'retrying' });
    expect(marked.deliveries[0]!.nextAttemptAtMs - Date.now()).toBeGreaterThan(3000);
    expect(await findEndpoint(db.knex, scope, row.id)).toMatchObject({ consecutiveFailures: 1, slow: true, enabled: true });
  });

  test('writes nothing to the delivery when the lease was lost, but a success counts', async () => {
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const event = anEvent(scope);
    const [delivery] = await emit(db, scope, [event]);
    await db.knex('deliveries').where({ id: delivery!.id }).update({ attempt_count: 2 });
    expect((await markAttempts(db, [aMark(delivery!, failure)])).deliveries).toEqual([]);
    expect((await deliveryOf(db, event.id)).status).toBe('sending');
    expect((await markAttempts(db, [aMark(delivery!)])).deliveries).toMatchObject([{ status: 'delivered' }]);
    expect((await markAttempts(db, [aMark({ ...delivery!, attempt: 2 }, failure)])).deliveries).toEqual([]);
    expect((await deliveryOf(db, event.id)).status).toBe('delivered');
  });

  test('a lease given back unused costs no attempt', async () => {
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const event = anEvent(scope);
    const [delivery] = await emit(db, scope, [event]);
    await markAttempts(db, [aMark(delivery!, { verdict: 'returned' })]);
    expect(await deliveryOf(db, event.id)).toMatchObject({ status: 'retrying', attempt_count: 0, leased_until: null });
    expect(await database.query('select 1 from delivery_attempts where delivery_id = $1', [delivery!.id])).toEqual([]);
  });

  test('410 disables an endpoint and skips what waits for it', async () => {
    const scope = await aMerchant(db);
    const { row } = await anEndpoint(db, scope);
    const [delivery] = await emit(db, scope, [anEvent(scope)]);
    const marked = await markAttempts(db, [aMark(delivery!, { ...failure, verdict: 'gone', statusCode: 410 })]);
    expect(marked.deliveries).toMatchObject([{ status: 'failed' }]);
    expect(marked.endpoints).toMatchObject([{ endpointId: row.id, ended: 'disabled' }]);
    expect(await findEndpoint(db.knex, scope, row.id)).toMatchObject({ enabled: false, disabledReason: 'gone' });
  });

  test('410 deletes an automation hook and cancels its delivery', async () => {
    const scope = await aMerchant(db);
    const { row } = await anEndpoint(db, scope, { kind: 'automation' });
    const [delivery] = await emit(db, scope, [anEvent(scope)]);
    const marked = await markAttempts(db, [aMark(delivery!, { ...failure, verdict: 'gone', statusCode: 410 })]);
    expect(marked.deliveries).toMatchObject([{ status: 'cancelled' }]);
    expect(marked.endpoints).toMatchObject([{ ended: 'deleted' }]);
    expect(await findEndpoint(db.knex, scope, row.id)).toBeNull();
  });

  test('five days of nothing but failure switch the endpoint off; one success begins anew', async () => {
    const scope = await aMerchant(db);
    const { row } = await anEndpoint(db, scope);
    const since = (days: number) => db.knex('webhook_endpoints').where({ id: row.id }).update({ failing_since: new Date(Date.now() - days * 86_400_000), consecutive_failures: 9 });
    const fail = async () => markAttempts(db, [aMark((await emit(db, scope, [anEvent(scope)]))[0]!, failure)]);
    await since(4.9);
    expect((await fail()).endpoints).toMatchObject([{ ended: null, consecutiveFailures: 10 }]);
    await since(5.1);
    await markAttempts(db, [aMark((await emit(db, scope, [anEvent(scope)]))[0]!)]);
    expect((await fail()).endpoints).toMatchObject([{ ended: null, consecutiveFailures: 1 }]);
    await since(5.1);
    expect((await fail()).endpoints).toMatchObject([{ ended: 'disabled' }]);
    expect(await findEndpoint(db.knex, scope, row.id)).toMatchObject({ enabled: false, disabledReason: 'failing' });
  });

  test('the third failure in a row is told of once', async () => {
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const told: boolean[] = [];
    for (let n = 1; n <= 4; n++) {
      const [delivery] = await emit(db, scope, [anEvent(scope)]);
      const { endpoints } = await markAttempts(db, [aMark(delivery!, failure)]);
      told.push(endpoints[0]!.beganToFail);
    }
    expect(told).toEqual([false, false, true, false]);
  });

  test('writes 64 ends in one statement', async () => {
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const leased = await emit(db, scope, Array.from({ length: 64 }, () => anEvent(scope)));
    const marked = await markAttempts(db, leased.map((delivery, i) => aMark(delivery, i % 2 === 0 ? {} : failure)));
    expect(marked.deliveries).toHaveLength(64);
  });
});

describe('leases', () => {
  test('a delivery that waits is leased once it is due, by one caller', async () => {
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const event = anEvent(scope);
    const [delivery] = await emit(db, scope, [event]);
    expect(await leaseDelivery(db, delivery!.id, 1, 15_000)).toBeNull();
    await markAttempts(db, [aMark(delivery!, { ...failure, waitMs: 60_000 })]);
    expect(await leaseDelivery(db, delivery!.id, 1, 15_000)).toBeNull();
    await db.knex('deliveries').where({ id: delivery!.id }).update({ due_at: new Date(Date.now() - 10) });
    expect(await leaseDelivery(db, delivery!.id, 2, 15_000)).toBeNull();
    const taken = await Promise.all(Array.from({ length: 8 }, () => leaseDelivery(db, delivery!.id, 1, 15_000)));
    const won = taken.filter((lease) => lease !== null);
    expect(won).toMatchObject([{ id: delivery!.id, attempt: 2, body: event.body, eventType: 'payment.completed', held: false }]);
    const row = await deliveryOf(db, event.id);
    expect(row.leased_until!.getTime() - Date.now()).toBeGreaterThan(18_000);
    expect(await readDeliveryState(db, delivery!.id)).toMatchObject({ status: 'sending', round: 1, endpointId: delivery!.endpointId });
  });

  test('one that comes due after its endpoint was switched off is skipped', async () => {
    const scope = await aMerchant(db);
    const { row } = await anEndpoint(db, scope);
    const event = anEvent(scope);
    const [delivery] = await emit(db, scope, [event]);
    await markAttempts(db, [aMark(delivery!, { ...failure, waitMs: 0 })]);
    await db.knex('webhook_endpoints').where({ id: row.id }).update({ enabled: false });
    expect(await leaseDelivery(db, delivery!.id, 1, 15_000)).toBeNull();
    expect((await deliveryOf(db, event.id)).status).toBe('skipped');
  });

  test('the sweep takes what was held too long and what a dead process left, and nothing that a workflow has', async () => {
    await db.knex('deliveries').update({ status: 'delivered', due_at: null, leased_until: null });
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const held = anEvent(scope, { sequence: 2 });
    const dead = anEvent(scope);
    const waiting = anEvent(scope);
    const alive = anEvent(scope);
    await emit(db, scope, [held, dead, waiting, alive]);
    const past = new Date(Date.now() - 1000);
    const set = (id: string, fields: object) => db.knex('deliveries').where({ event_id: id }).update(fields);
    await set(held.id, { status: 'pending', attempt_count: 0, due_at: past, leased_until: null });
    await set(dead.id, { leased_until: past });
    await set(waiting.id, { leased_until: past, workflow_started_at: past });
    const taken = await takeOverdueDeliveries(db, 100);
    expect(taken.map((delivery) => [delivery.eventId, delivery.attempt]).sort()).toEqual([[held.id, 1], [dead.id, 2]].sort());
    expect(await takeOverdueDeliveries(db, 100)).toEqual([]);
  });

  test('a retry without a workflow is listed until its start is noted', async () => {
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const [delivery] = await emit(db, scope, [anEvent(scope)]);
    const { deliveries } = await markAttempts(db, [aMark(delivery!, failure)]);
    const listed = async () => (await deliveriesWithoutWorkflow(db, 1000)).find((row) => row.deliveryId === delivery!.id);
    expect(await listed()).toEqual({ deliveryId: delivery!.id, round: 1, nextAttemptAtMs: deliveries[0]!.nextAttemptAtMs });
    await markDeliveryWorkflows(db, [delivery!.id]);
    expect(await listed()).toBeUndefined();
    await db.knex('deliveries').where({ id: delivery!.id }).update({ due_at: new Date(Date.now() - 300_000) });
    expect(await listed()).toBeDefined();
  });

  test('a second look frees what was held back by an event that had ended already', async () => {
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const first = anEvent(scope);
    const second = anEvent(scope, { resourceId: first.resourceId, sequence: 2 });
    const offered = await emit(db, scope, [first, second]);
    const held = offered.find((delivery) => delivery.held)!;
    expect(await takeFreedDeliveries(db, [held.id])).toEqual([]);
    await db.knex('deliveries').where({ event_id: first.id }).update({ status: 'delivered' });
    expect(await takeFreedDeliveries(db, [held.id])).toEqual([held.id]);
    expect(await deliveryOf(db, second.id)).toMatchObject({ status: 'sending', attempt_count: 1 });
  });
});

describe('an endpoint', () => {
  test('switched off skips what waits, deleted cancels it', async () => {
    const scope = await aMerchant(db);
    const { row } = await anEndpoint(db, scope);
    const event = anEvent(scope);
    const [delivery] = await emit(db, scope, [event]);
    await markAttempts(db, [aMark(delivery!, failure)]);
    const off = await db.transaction((trx) => changeEndpoint(trx, scope, row.id, { enabled: false }));
    expect(off).toMatchObject({ enabled: false, disabledReason: 'merchant' });
    expect((await deliveryOf(db, event.id)).status).toBe('skipped');
    const on = await db.transaction((trx) => changeEndpoint(trx, scope, row.id, { enabled: true, events: ['payment.failed'], description: 'new' }));
    expect(on).toMatchObject({ enabled: true, disabledReason: null, consecutiveFailures: 0, events: ['payment.failed'], description: 'new' });
    await endDeliveriesOf(db, row.id, 'cancelled');
    expect((await deliveryOf(db, event.id)).status).toBe('skipped');
  });

  test('is out of reach for another merchant and the other mode', async () => {
    const scope = await aMerchant(db);
    const { row } = await anEndpoint(db, scope);
    expect(await findEndpoint(db.knex, { ...scope, mode: 'live' }, row.id)).toBeNull();
    expect(await findEndpoint(db.knex, await aMerchant(db), row.id)).toBeNull();
    expect(await db.transaction((trx) => deleteEndpoint(trx, { ...scope, mode: 'live' }, row.id))).toBe(false);
  });

  test('old events go with their deliveries and attempts', async () => {
    const scope = await aMerchant(db);
    await anEndpoint(db, scope);
    const event = anEvent(scope);
    const [delivery] = await emit(db, scope, [event]);
    await markAttempts(db, [aMark(delivery!)]);
    await db.knex('events').where({ id: event.id }).update({ inserted_at: new Date(Date.now() - 91 * 86_400_000) });
    expect(await deleteOldEvents(db, 10)).toBe(1);
    expect(await database.query('select 1 from delivery_attempts where delivery_id = $1', [delivery!.id])).toEqual([]);
  });
});
