// Webhook endpoints over the API, with the real rule for addresses.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type Stack, startStack, type TestMerchant } from '../support/stack.ts';
import { isSignatureValid } from '../../webhooks/signature.ts';

let stack: Stack;
let receiver: Receiver;
beforeAll(async () => {
  [stack, receiver] = await Promise.all([startStack(), startReceiver()]);
});
afterAll(async () => {
  await stack?.stop();
  await receiver?.stop();
});

interface Endpoint {
  id: string;
  secret: string;
  [field: string]: unknown;
}

async function created(merchant: TestMerchant, body: object = {}): Promise<Endpoint> {
  const answer = await merchant.api.post<Endpoint>('/webhook-endpoints', { url: receiver.url, ...body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

describe('POST /webhook-endpoints', () => {
  test('answers with the endpoint and its secret', async () => {
    const endpoint = await created(stack.merchant, { events: ['payment.completed', 'payment.completed', 'payment.failed'], description: 'Orders' });
    expect(endpoint).toMatchObject({
      id: expect.stringMatching(/^we_[0-9a-z]{26}$/), kind: 'endpoint', url: receiver.url, description: 'Orders', events: ['payment.completed', 'payment.failed'],
      enabled: true, status: 'enabled', disabled_reason: null, disabled_at: null, mode: 'test',
      health: { state: 'unknown', failing_since: null, consecutive_failures: 0, last_success_at: null, last_failure_at: null },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const secret = await stack.api.get(`/webhook-endpoints/${endpoint.id}/secret`);
    expect(secret.body).toEqual({ secret: endpoint.secret, next_secret: null, swaps_at: null });
    expect((await stack.api.get(`/webhook-endpoints/${endpoint.id}`)).body).not.toHaveProperty('secret');
    const dump = await stack.db.query<{ row: string }>('select webhook_endpoints::text as row from webhook_endpoints');
    expect(dump.map((one) => one.row).join()).not.toContain(endpoint.secret.slice(6, 30));
  });

  test('listens to everything when no events are named', async () => {
    expect(await created(stack.merchant)).toMatchObject({ events: ['*'], description: null });
    expect(await created(stack.merchant, { events: ['*', 'payment.failed'] })).toMatchObject({ events: ['*'] });
  });

  test('replays its answer, the secret included, for the same Idempotency-Key', async () => {
    const [first, second] = [await stack.api.post('/webhook-endpoints', { url: receiver.url }, { idempotencyKey: 'endpoint-1' }), await stack.api.post('/webhook-endpoints', { url: receiver.url }, { idempotencyKey: 'endpoint-1' })];
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect((await stack.api.post('/webhook-endpoints', { url: `${receiver.url}/other` }, { idempotencyKey: 'endpoint-1' })).body).toMatchObject({ code: 'idempotency_key_reused' });
  });

  test.each([
    [{}, 'validation_failed', 'url'],
    [{ url: 5 }, 'validation_failed', 'url'],
    [{ url: 'https://10.0.0.1/' }, 'target_url_not_allowed', 'url'],
    [{ url: 'http://shop.example.com/' }, 'target_url_not_allowed', 'url'],
    [{ url: 'not a url' }, 'target_url_not_allowed', 'url'],
    [{ url: '' }, 'target_url_not_allowed', 'url'],
    [{ url: `https://shop.example.com/${'x'.repeat(2048)}` }, 'target_url_not_allowed', 'url'],
    [{ url: 'https://hooks.example.com/', events: ['payment.complete'] }, 'unsupported_event', 'events[0]'],
    [{ url: 'https://hooks.example.com/', events: ['endpoint.test'] }, 'unsupported_event', 'events[0]'],
    [{ url: 'https://hooks.example.com/', events: [] }, 'validation_failed', 'events'],
    [{ url: 'https://hooks.example.com/', events: 'payment.completed' }, 'validation_failed', 'events'],
    [{ url: 'https://hooks.example.com/', events: [null] }, 'validation_failed', 'events[0]'],
    [{ url: 'https://hooks.example.com/', enabled: 'yes' }, 'validation_failed', 'enabled'],
    [{ url: 'https://hooks.example.com/', description: 'x'.repeat(501) }, 'validation_failed', 'description'],
    [{ url: 'https://hooks.example.com/', secret: 'whsec_mine' }, 'validation_failed', 'secret'],
  ])('refuses %j', async (body, code, path) => {
    const { status, body: error } = await stack.api.post<{ code: string; errors: { path: string }[] }>('/webhook-endpoints', body);
    expect(status).toBe(422);
    expect(error.code).toBe(code);
    expect(error.errors.map((one) => one.path)).toContain(path);
  });

  test('refuses loopback for live keys', async () => {
    const answer = await stack.api.post('/webhook-endpoints', { url: receiver.url }, { key: stack.keys.live });
    expect(answer.body).toMatchObject({ code: 'target_url_not_allowed', param: 'url' });
  });
});

describe('reading and changing', () => {
  test('lists newest first, by pages, only one\'s own', async () => {
    const merchant = await stack.addMerchant();
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push((await created(merchant)).id);
    const page = await merchant.api.get<{ data: Endpoint[]; meta: object }>('/webhook-endpoints?limit=2');
    expect(page.body.data.map((one) => one.id)).toEqual([ids[2], ids[1]]);
    expect(page.body.meta).toEqual({ current_page: 1, last_page: 2, per_page: 2, total: 3 });
    expect((await merchant.api.get<{ data: Endpoint[] }>('/webhook-endpoints', { key: merchant.liveKey })).body.data).toEqual([]);
  });

  test('changes what is given and nothing else', async () => {
    const endpoint = await created(stack.merchant, { description: 'one' });
    const off = await stack.api.patch(`/webhook-endpoints/${endpoint.id}`, { enabled: false });
    expect(off.body).toMatchObject({ url: receiver.url, description: 'one', enabled: false, status: 'disabled', disabled_reason: 'merchant', disabled_at: expect.any(String) });
    const on = await stack.api.patch(`/webhook-endpoints/${endpoint.id}`, { enabled: true, description: null, events: ['payment.created'], url: `${receiver.url}/new` });
    expect(on.body).toMatchObject({ url: `${receiver.url}/new`, description: null, enabled: true, disabled_reason: null, disabled_at: null, events: ['payment.created'] });
    expect((await stack.api.patch(`/webhook-endpoints/${endpoint.id}`, { url: 'https://[::1]:3/' }, { key: stack.keys.test })).status).toBe(200);
    expect((await stack.api.patch(`/webhook-endpoints/${endpoint.id}`, { url: 'https://192.168.1.1/' })).body).toMatchObject({ code: 'target_url_not_allowed' });
    expect((await stack.api.patch(`/webhook-endpoints/${endpoint.id}`, {})).status).toBe(200);
  });

  test('a deleted one is gone', async () => {
    const endpoint = await created(stack.merchant);
    expect((await stack.api.delete(`/webhook-endpoints/${endpoint.id}`)).body).toEqual({ ok: true });
    expect((await stack.api.delete(`/webhook-endpoints/${endpoint.id}`)).status).toBe(404);
    expect((await stack.api.get(`/webhook-endpoints/${endpoint.id}`)).status).toBe(404);
  });

  test.each(['GET ', 'PATCH ', 'DELETE ', 'GET /secret', 'GET /deliveries', 'GET /deliveries/dlv_01hzzzzzzzzzzzzzzzzzzzzzzz'])('%s answers another merchant, the other mode and nonsense alike', async (what) => {
    const [method, suffix] = what.split(' ') as [string, string];
    const endpoint = await created(stack.merchant);
    const other = await stack.addMerchant();
    const body = method === 'PATCH' ? {} : undefined;
    const answers = [
      await other.api.call(method, `/webhook-endpoints/${endpoint.id}${suffix}`, body),
      await stack.api.call(method, `/webhook-endpoints/${endpoint.id}${suffix}`, body, { key: stack.keys.live }),
      await stack.api.call(method, `/webhook-endpoints/we_01hzzzzzzzzzzzzzzzzzzzzzzz${suffix}`, body),
      await stack.api.call(method, `/webhook-endpoints/nonsense${suffix}`, body),
    ];
    for (const answer of answers) expect(answer, answer.text).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

test('a session\'s first event arrives signed, and its delivery can be looked at', async () => {
  const merchant = await stack.addMerchant();
  const endpoint = await created(merchant);
  receiver.clear();
  receiver.behave({ status: 200, body: 'noted' });
  await merchant.api.post('/checkout-sessions', { amount: 2500, currency: 'USD', success_url: 'https://shop.example/ok', failure_url: 'https://shop.example/no' });
  const [delivery] = await receiver.received('payment.created', { withinMs: 5000 });
  const headers = delivery!.headers as Record<string, string>;
  expect(isSignatureValid({ secret: endpoint.secret, timestamp: headers['x-svc-timestamp']!, signature: headers['x-svc-signature']!, body: delivery!.raw, now: new Date() })).toBe(true);
  await eventually(async () => {
    const list = await merchant.api.get<{ data: { id: string }[] }>(`/webhook-endpoints/${endpoint.id}/deliveries?status=delivered`);
    expect(list.body).toMatchObject({ data: [{ event_id: delivery!.body!.id, event: 'payment.created', status: 'delivered', attempts_count: 1, last_status_code: 200, next_attempt_at: null }], has_more: false });
    const one = await merchant.api.get(`/webhook-endpoints/${endpoint.id}/deliveries/${list.body.data[0]!.id}`);
    expect(one.body).toMatchObject({ attempts: [{ n: 1, status_code: 200, response_body: 'noted', error: null }] });
    const after = await merchant.api.get(`/webhook-endpoints/${endpoint.id}/deliveries?before=${list.body.data[0]!.id}`);
    expect(after.body).toEqual({ data: [], has_more: false });
  });
  expect((await merchant.api.get(`/webhook-endpoints/${endpoint.id}/deliveries?before=dlv_nonsense`)).status).toBe(422);
  expect((await merchant.api.get(`/webhook-endpoints/${endpoint.id}`)).body).toMatchObject({ health: { state: 'healthy' } });
});
