import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { dropExpiredIdempotencyKeys } from '../../models/idempotency-key.ts';
import { startApi, sessionBody, type TestApi, type TestMerchant } from './app-fixture.ts';

let api: TestApi;
let merchant: TestMerchant;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  merchant = await api.addMerchant();
});
afterAll(() => api.stop());

const count = async (table: string): Promise<number> => {
  const [row] = await api.sql<{ n: string }>(`select count(*) as n from ${table} where merchant_id = $1`, [merchant.merchantId]);
  return Number(row?.n);
};

test('the same key and request gets the same answer byte for byte, and one session', async () => {
  const first = await merchant.api.post('/checkout-sessions', sessionBody, { idempotencyKey: 'a' });
  const reordered = JSON.stringify(Object.fromEntries(Object.entries(sessionBody).reverse()));
  const second = await merchant.api.post('/checkout-sessions', ` ${reordered} `, { idempotencyKey: 'a' });
  expect([second.status, second.text]).toEqual([201, first.text]);
  expect(first.headers['idempotent-replayed']).toBeUndefined();
  expect(second.headers['idempotent-replayed']).toBe('true');
  expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  expect(await count('checkout_sessions')).toBe(1);
});

test('the same key with another body, path or method is a 422', async () => {
  await merchant.api.post('/checkout-sessions', sessionBody, { idempotencyKey: 'a' });
  for (const answer of [
    await merchant.api.post('/checkout-sessions', { ...sessionBody, amount: 2501 }, { idempotencyKey: 'a' }),
    // Replay comes before validation: the key is judged first.
    await merchant.api.post('/checkout-sessions', { nonsense: true }, { idempotencyKey: 'a' }),
    await merchant.api.post('/domains', { hostname: 'a.test', kind: 'plugin' }, { idempotencyKey: 'a' }),
    await merchant.api.patch('/settings', sessionBody, { idempotencyKey: 'a' }),
  ]) {
    expect([answer.status, answer.body['code']]).toEqual([422, 'idempotency_key_reused']);
  }
  expect(await count('domains')).toBe(0);
});

test('a key belongs to one merchant and one mode', async () => {
  const other = await api.addMerchant();
  const first = await merchant.api.post('/checkout-sessions', sessionBody, { idempotencyKey: 'a' });
  const second = await other.api.post('/checkout-sessions', sessionBody, { idempotencyKey: 'a' });
  const live = await merchant.liveApi.post('/domains', { hostname: 'a.test', kind: 'plugin' }, { idempotencyKey: 'a' });
  expect([second.status, live.status]).toEqual([201, 201]);
  expect(second.body['id']).not.toBe(first.body['id']);
  expect((await other.api.get('/idempotency-keys/b')).status).toBe(404);
});

test('an invalid request leaves nothing and frees its key', async () => {
  expect((await merchant.api.post('/checkout-sessions', { ...sessionBody, amount: 0 }, { idempotencyKey: 'a' })).status).toBe(422);
  expect((await merchant.api.post('/checkout-sessions', { ...sessionBody, customer_id: 'cus_nobody' }, { idempotencyKey: 'a' })).status).toBe(422);
  expect((await merchant.api.post(`/checkout-sessions/cs_00000000000000000000000000/expire`, {}, { idempotencyKey: 'a' })).status).toBe(404);
  expect(await count('idempotency_keys')).toBe(0);
  expect((await merchant.api.post('/checkout-sessions', sessionBody, { idempotencyKey: 'a' })).status).toBe(201);
});

test('50 calls at once with one key have one effect and equal answers', async () => {
  for (const [path, body, table] of [
    ['/checkout-sessions', sessionBody, 'checkout_sessions'],
    ['/domains', { hostname: 'race.test', kind: 'plugin' }, 'domains'],
  ] as const) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => merchant.api.post(path, body, { idempotencyKey: `race ${table}` })));
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(answers.filter((answer) => answer.headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(await count(table)).toBe(1);
  }
});

test('50 calls at once with one key and different bodies: one wins, the others conflict', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => merchant.api.post('/checkout-sessions', { ...sessionBody, amount: 100 + i }, { idempotencyKey: 'one' })));
  expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
  expect(answers.filter((answer) => answer.body['code'] === 'idempotency_key_reused')).toHaveLength(49);
  expect(await count('checkout_sessions')).toBe(1);
});

test('a refusal for its state is remembered, also when the state changes later', async () => {
  const { body } = await merchant.api.post('/checkout-sessions', sessionBody);
  const path = `/checkout-sessions/${body['id']}/recover`;
  const first = await merchant.api.post(path, {}, { idempotencyKey: 'r' });
  expect(first.status).toBe(409);
  await api.sql(`update checkout_sessions set status = 'failed' where id = $1`, [body['id']]);
  const second = await merchant.api.post(path, {}, { idempotencyKey: 'r' });
  expect([second.status, second.text, second.headers['idempotent-replayed']]).toEqual([409, first.text, 'true']);
  expect((await merchant.api.post(path, {}, { idempotencyKey: 'r2' })).status).toBe(201);
});

test('while the first call waits, a second is told so; afterwards it gets the answer', async () => {
  const { body } = await merchant.api.post('/checkout-sessions', sessionBody);
  const path = `/checkout-sessions/${body['id']}/expire`;
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  let begun = (): void => undefined;
  const beginning = new Promise<void>((resolve) => (begun = resolve));
  api.endSession = async (session) => {
    begun();
    await gate;
    await api.sql(`update checkout_sessions set status = 'expired' where id = $1`, [session.id]);
    return { state: 'ended', status: 'expired' };
  };
  const first = merchant.api.post(path, {}, { idempotencyKey: 'e' });
  await beginning;
  const second = await merchant.api.post(path, {}, { idempotencyKey: 'e' });
  expect([second.status, second.body['code'], second.headers['retry-after']]).toEqual([409, 'idempotency_in_progress', '1']);
  expect((await merchant.api.get('/idempotency-keys/e')).body).toMatchObject({ status: 'in_progress', response_status: null, resource: null });
  release();
  const done = await first;
  expect(done.status).toBe(200);
  const third = await merchant.api.post(path, {}, { idempotencyKey: 'e' });
  expect([third.text, third.headers['idempotent-replayed']]).toEqual([done.text, 'true']);
});

test('a claim whose process died is resumed after its lease, also when its work was done', async () => {
  const { body } = await merchant.api.post('/checkout-sessions', sessionBody);
  const path = `/checkout-sessions/${body['id']}/expire`;
  api.endSession = async (session) => {
    await api.sql(`update checkout_sessions set status = 'expired' where id = $1`, [session.id]);
    throw new Error('the process dies here');
  };
  expect((await merchant.api.post(path, {}, { idempotencyKey: 'd' })).status).toBe(500);
  expect((await merchant.api.post(path, {}, { idempotencyKey: 'd' })).body['code']).toBe('idempotency_in_progress');
  await api.sql(`update idempotency_keys set lease_until = now() where merchant_id = $1`, [merchant.merchantId]);
  expect((await merchant.api.post(path, { x: 1 }, { idempotencyKey: 'd' })).body['code']).toBe('idempotency_key_reused');
  const resumed = await merchant.api.post(path, {}, { idempotencyKey: 'd' });
  expect([resumed.status, resumed.body['status']]).toEqual([200, 'expired']);
  expect((await merchant.api.post(path, {}, { idempotencyKey: 'd' })).text).toBe(resumed.text);
});

test('a key has 1 to 255 printable ASCII characters', async () => {
  for (const key of ['', 'k'.repeat(256), 'tab\there', 'caf\u00e9']) {
    const answer = await merchant.api.post('/domains', { hostname: 'k.test', kind: 'plugin' }, { idempotencyKey: key });
    expect([key.length, answer.status, answer.body['code']]).toEqual([key.length, 400, 'idempotency_key_invalid']);
  }
  expect((await merchant.api.post('/domains', { hostname: 'k.test', kind: 'plugin' }, { idempotencyKey: 'k'.repeat(255) })).status).toBe(201);
});

test('what is remembered can be asked for, and no answer lies in clear in the database', async () => {
  const created = await merchant.api.post('/checkout-sessions', sessionBody, { idempotencyKey: 'order/7?' });
  const remembered = await merchant.api.get('/idempotency-keys/order%2F7%3F');
  expect(remembered.body).toMatchObject({
    key: 'order/7?', method: 'POST', path: '/api/v1/checkout-sessions', status: 'completed', response_status: 201,
    resource: { type: 'checkout_session', id: created.body['id'] },
  });
  const [row] = await api.sql<{ row: string }>('select k::text as row from idempotency_keys k where merchant_id = $1', [merchant.merchantId]);
  expect(row?.row).not.toContain('checkout.test');
});

test('a key is forgotten after 30 days and may be used anew', async () => {
  const first = await merchant.api.post('/checkout-sessions', sessionBody, { idempotencyKey: 'old' });
  await api.sql(`update idempotency_keys set expires_at = now() where merchant_id = $1`, [merchant.merchantId]);
  expect((await merchant.api.get('/idempotency-keys/old')).status).toBe(404);
  const second = await merchant.api.post('/checkout-sessions', sessionBody, { idempotencyKey: 'old' });
  expect([second.status, second.body['id'] === first.body['id']]).toEqual([201, false]);
  await api.sql(`update idempotency_keys set expires_at = now() where merchant_id = $1`, [merchant.merchantId]);
  await dropExpiredIdempotencyKeys(api.db, 100);
  expect(await count('idempotency_keys')).toBe(0);
});

