// A delivery that failed at first, on a real Temporal server: retried by its workflow, resumed from its row, made up by the
// sweep, delivered after a restart.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Scope } from '../../domain/mode.ts';
import { createWebhookActivities } from '../../activities/webhook-delivery.ts';
import { eventsParameter, leasedDeliveriesColumn, type NewEvent, outboxCtes } from '../../models/outbox.ts';
import { createEndpoint } from '../../operations/create-endpoint.ts';
import { eventually, eventuallyFound } from '../support/eventually.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { anEvent, emit } from '../support/webhooks.ts';

let stack: Stack;
let receiver: Receiver;
let scope: Scope;

beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());
beforeEach(async () => {
  receiver = await startReceiver();
  scope = { merchantId: (await stack.addMerchant()).merchantId, mode: 'test' };
  await createEndpoint(stack.service.operations, scope, { url: receiver.url, description: null, events: ['*'], enabled: true });
});
afterEach(() => receiver.stop());

async function send(event: NewEvent): Promise<string> {
  const deliveries = await emit(stack.service.db, scope, [event]);
  stack.service.operations.offerDeliveries(deliveries);
  return deliveries[0]!.id;
}

/** Commits as a process does that dies before it sends. */
async function commitOnly(event: NewEvent): Promise<string> {
  await stack.db.query(`with moved as (select $1::text as merchant_id, $2::mode_name as mode), ${outboxCtes('moved', 3)} select ${leasedDeliveriesColumn}`, [scope.merchantId, scope.mode, eventsParameter([event])]);
  return (await stack.db.query<{ id: string }>('select id from deliveries where event_id = $1', [event.id]))[0]!.id;
}

const rowOf = async (id: string) => (await stack.db.query<{ status: string; attempt_count: number; workflow_started_at: Date | null }>('select * from deliveries where id = $1', [id]))[0]!;
const statusOf = async (id: string) => (await rowOf(id)).status;
const workflowOf = (id: string) => stack.service.client.workflow.getHandle(id);

describe('a delivery whose direct attempt failed', () => {
  test('is sent again by its workflow after five seconds, the same bytes signed anew', async () => {
    receiver.behave((delivery) => ({ status: delivery.headers['x-svc-delivery-attempt'] === '1' ? 500 : 200 }));
    const event = anEvent(scope);
    const id = await send(event);
    const [first, second] = await receiver.received('payment.completed', { count: 2, withinMs: 20_000 });
    expect(second!.raw).toEqual(first!.raw);
    expect(second!.headers['x-svc-delivery-attempt']).toBe('2');
    expect(second!.headers['x-svc-event-id']).toBe(event.id);
    expect(second!.headers['x-svc-signature']).not.toBe(first!.headers['x-svc-signature']);
    expect(second!.receivedAtMs - first!.receivedAtMs).toBeGreaterThan(4500);
    expect(await workflowOf(id).result()).toBe('delivered');
    const attempts = await stack.db.query('select n, status_code from delivery_attempts where delivery_id = $1 order by n', [id]);
    expect(attempts).toEqual([{ n: 1, status_code: 500 }, { n: 2, status_code: 200 }]);
    const history = await workflowOf(id).fetchHistory();
    expect(JSON.stringify(history)).not.toContain('127.0.0.1');
  });

  test('waits by the schedule and is resumed from its row by a new run', async () => {
    receiver.behave({ status: 500 });
    const id = await send(anEvent(scope));
    await receiver.received('payment.completed', { count: 2, withinMs: 20_000 });
    await eventually(async () => expect(await rowOf(id)).toMatchObject({ status: 'retrying', attempt_count: 2 }));
    const [{ wait } = { wait: 0 }] = await stack.db.query<{ wait: number }>('select extract(epoch from due_at - now())::float as wait from deliveries where id = $1', [id]);
    expect(wait).toBeGreaterThan(290);
    expect(wait).toBeLessThan(331);
    // An operator ends the workflow; it is long overdue when the sweep comes by.
    await workflowOf(id).terminate();
    await stack.db.query("update deliveries set due_at = now() - interval '10 minutes' where id = $1", [id]);
    receiver.behave({ status: 200 });
    await stack.service.sweep();
    await eventually(async () => expect(await statusOf(id)).toBe('delivered'));
  });

  test('ends without another attempt when its endpoint is switched off meanwhile', async () => {
    receiver.behave({ status: 500 });
    const id = await send(anEvent(scope));
    await eventually(async () => expect(await statusOf(id)).toBe('retrying'));
    await stack.db.query('update webhook_endpoints set enabled = false where merchant_id = $1', [scope.merchantId]);
    expect(await eventuallyFound(() => workflowOf(id).result(), 'the result', { withinMs: 20_000 })).toBe('skipped');
    expect(await statusOf(id)).toBe('skipped');
    expect(receiver.deliveries).toHaveLength(1);
  });
});

describe('a process that died', () => {
  test('after its commit leaves the delivery to the sweep at the end of the lease', async () => {
    const id = await commitOnly(anEvent(scope));
    await stack.service.sweep();
    expect(await statusOf(id)).toBe('sending');
    await stack.db.query('update deliveries set leased_until = now() where id = $1', [id]);
    await stack.service.sweep();
    await receiver.received('payment.completed');
    await eventually(async () => expect(await rowOf(id)).toMatchObject({ status: 'delivered', attempt_count: 2 }));
  });

  test('before the workflow was started leaves the retry to the sweep', async () => {
    const id = await commitOnly(anEvent(scope));
    await stack.db.query("update deliveries set status = 'retrying', due_at = now(), leased_until = null where id = $1", [id]);
    await stack.service.sweep();
    await eventually(async () => expect(await statusOf(id)).toBe('delivered'));
    expect((await rowOf(id)).workflow_started_at).not.toBeNull();
  });

  test('during a retry has it taken over after the lease', async () => {
    const id = await commitOnly(anEvent(scope));
    await stack.db.query("update deliveries set status = 'retrying', due_at = now(), leased_until = null where id = $1", [id]);
    // Somebody else holds it for three more seconds.
    await stack.db.query("update deliveries set status = 'sending', attempt_count = 2, leased_until = now() + interval '3 seconds', workflow_started_at = now() where id = $1", [id]);
    await stack.service.client.workflow.start('webhookDelivery', { workflowId: id, taskQueue: 'payments', args: [{ deliveryId: id, round: 1, nextAttemptAtMs: Date.now() }] });
    expect(await workflowOf(id).result()).toBe('delivered');
    expect(await rowOf(id)).toMatchObject({ status: 'delivered', attempt_count: 3 });
  });
});

test('a delivery that waits goes out after everything was restarted', async () => {
  receiver.behave({ status: 503 });
  const id = await send(anEvent(scope));
  await eventually(async () => expect((await rowOf(id)).workflow_started_at).not.toBeNull());
  await stack.restart();
  receiver.behave({ status: 200 });
  await eventually(async () => expect(await statusOf(id)).toBe('delivered'), { withinMs: 30_000 });
});

describe('the activity', () => {
  test('turns a retry away while the endpoint has enough in flight', async () => {
    const id = await commitOnly(anEvent(scope));
    await stack.db.query("update deliveries set status = 'retrying', due_at = now(), leased_until = null where id = $1", [id]);
    const { attemptDelivery } = createWebhookActivities({ db: stack.service.db, nowMs: () => 1_000_000, random: () => 0.5, sender: { enter: () => null, attempt: () => Promise.reject(new Error('not to be sent')) } });
    expect(await attemptDelivery({ deliveryId: id, round: 1 })).toEqual({ state: 'retry', nextAttemptAtMs: 1_004_000, note: null });
    expect(await statusOf(id)).toBe('retrying');
    expect(await attemptDelivery({ deliveryId: id, round: 2 })).toMatchObject({ state: 'ended' });
    expect(await attemptDelivery({ deliveryId: 'dlv_none', round: 1 })).toEqual({ state: 'ended', status: 'removed' });
  });

  test('throws when the end could not be written, so that Temporal repeats it, and leaves the place', async () => {
    const id = await commitOnly(anEvent(scope));
    await stack.db.query("update deliveries set status = 'retrying', due_at = now(), leased_until = null where id = $1", [id]);
    let left = 0;
    const { attemptDelivery } = createWebhookActivities({ db: stack.service.db, sender: { enter: () => () => void left++, attempt: () => Promise.reject(new Error('Postgres is away')) } });
    await expect(attemptDelivery({ deliveryId: id, round: 1 })).rejects.toThrow('Postgres is away');
    expect(left).toBe(1);
  });
});
