// Card setups over the API: what is asked for, who may ask, and one answer per key. The page is tested with the whole stack.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApi, type TestApi, type TestMerchant } from './app-fixture.ts';

let api: TestApi;
let merchant: TestMerchant;
let customerId: string;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  merchant = await api.addMerchant();
  customerId = (await merchant.api.post('/customers', { name: 'Ada' })).body['id'] as string;
});
afterAll(() => api.stop());

const urls = { success_url: 'http://shop.test/saved', failure_url: 'https://shop.test/not-saved' };
const create = (body: object = urls, options?: { idempotencyKey: string }) => merchant.api.post(`/customers/${customerId}/card-setup-sessions`, body, options);

test('a card setup is open for half an hour and has a workflow from the start', async () => {
  const before = Date.now();
  const made = await create({ ...urls, cancel_url: 'https://shop.test/account' });
  expect([made.status, made.body]).toEqual([201, { id: expect.stringMatching(/^css_[0-9a-z]{26}$/), setup_url: expect.any(String), expires_at: expect.any(String) }]);
  const id = made.body['id'] as string;
  expect(made.body['setup_url']).toMatch(new RegExp(`^http://checkout\\.test/setup/${id}\\.[\\w.-]+$`));
  const livesMs = Date.parse(made.body['expires_at'] as string) - before;
  expect(livesMs).toBeGreaterThan(29.5 * 60_000);
  expect(livesMs).toBeLessThan(30.5 * 60_000);
  expect(api.startedSetups.at(-1)).toMatchObject({ id, merchantId: merchant.merchantId, mode: 'test' });
  const read = await merchant.api.get(`/card-setup-sessions/${id}`);
  expect([read.status, read.body]).toEqual([
    200,
    { id, status: 'open', customer_id: customerId, subscription_id: null, token_id: null, expires_at: made.body['expires_at'], completed_at: null },
  ]);
});

test('one whose time is over reads as expired before anything has moved it', async () => {
  const { body } = await create();
  await api.sql(`update card_setup_sessions set expires_at = now() where id = $1`, [body['id']]);
  expect((await merchant.api.get(`/card-setup-sessions/${body['id']}`)).body).toMatchObject({ status: 'expired', completed_at: null });
});

test('twenty at once with one Idempotency-Key make one card setup and one answer', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => create(urls, { idempotencyKey: 'once' })));
  expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
  expect(answers[0]?.status).toBe(201);
  expect(await api.sql('select id from card_setup_sessions where customer_id = $1', [customerId])).toHaveLength(1);
  expect((await merchant.api.get('/idempotency-keys/once')).body).toMatchObject({ status: 'completed', response_status: 201, resource: { type: 'card_setup_session', id: answers[0]?.body['id'] } });
  expect((await create({ ...urls, success_url: 'https://shop.test/other' }, { idempotencyKey: 'once' })).body['code']).toBe('idempotency_key_reused');
});

test('nobody sets up a card for another merchant\'s or mode\'s customer, and the key stays free', async () => {
  const path = `/customers/${customerId}/card-setup-sessions`;
  const stranger = await api.addMerchant();
  for (const client of [stranger.api, merchant.liveApi]) {
    const answer = await client.post(path, { success_url: 'https://shop.test/a', failure_url: 'https://shop.test/b' }, { idempotencyKey: 'k' });
    expect([answer.status, answer.body['code']]).toEqual([404, 'not_found']);
    expect((await client.get('/idempotency-keys/k')).status).toBe(404);
  }
  expect(await api.sql('select id from card_setup_sessions where customer_id = $1', [customerId])).toHaveLength(0);
});

test('a live key redirects to registered hosts by https only', async () => {
  const live = (await merchant.liveApi.post('/customers', {})).body['id'] as string;
  const ask = (body: object) => merchant.liveApi.post(`/customers/${live}/card-setup-sessions`, body);
  const https = { success_url: 'https://shop.test/saved', failure_url: 'https://shop.test/failed' };
  const refused = await ask(https);
  expect([refused.status, refused.body['code'], refused.body['param']]).toEqual([422, 'redirect_host_not_registered', 'success_url']);
  await merchant.liveApi.post('/domains', { hostname: 'shop.test', kind: 'payment_redirect' });
  expect((await ask(https)).status).toBe(201);
  expect((await ask({ ...https, cancel_url: 'https://elsewhere.test/' })).body).toMatchObject({ code: 'redirect_host_not_registered', param: 'cancel_url' });
  expect((await ask({ ...https, success_url: 'http://shop.test/saved' })).body).toMatchObject({ code: 'redirect_host_not_registered', param: 'success_url' });
});

test.each([
  [{}, 'success_url', 'required'],
  [{ ...urls, success_url: 'javascript:alert(1)' }, 'success_url', 'invalid_url'],
  [{ ...urls, failure_url: 7 }, 'failure_url', 'wrong_type'],
  [{ ...urls, cancel_url: '/account' }, 'cancel_url', 'invalid_url'],
  [{ ...urls, subscription_id: 'sub_00000000000000000000000000' }, 'subscription_id', 'subscription_not_found'],
  [{ ...urls, amount: 100 }, 'amount', 'unknown_field'],
])('bad input %# is refused at its field', async (body, path, code) => {
  const answer = await create(body);
  expect([answer.status, answer.body['code']]).toEqual([422, 'validation_failed']);
  expect(answer.body['errors']).toContainEqual(expect.objectContaining({ path, code }));
});
