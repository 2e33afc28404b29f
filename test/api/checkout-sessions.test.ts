import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, sessionBody, type TestApi, type TestMerchant } from './app-fixture.ts';

let api: TestApi;
let merchant: TestMerchant;
beforeAll(async () => {
  api = await startApi();
  merchant = await api.addMerchant();
});
afterAll(() => api.stop());

test('creating answers 201 with exactly the listed fields and starts the workflow', async () => {
  const created = await merchant.api.post('/checkout-sessions', sessionBody);
  expect(created.status).toBe(201);
  expect(Object.keys(created.body)).toEqual(['id', 'status', 'amount', 'currency', 'checkout_url', 'expires_at']);
  expect(created.body).toMatchObject({ status: 'open', amount: 2500, currency: 'USD' });
  expect(created.body['checkout_url']).toMatch(new RegExp(`^http://checkout\\.test/checkout/${created.body['id']}\\.`));
  expect(api.started.map((session) => session.id)).toContain(created.body['id']);
});

test('retrieving gives every field back, null when absent', async () => {
  const minimal = await merchant.api.post('/checkout-sessions', sessionBody);
  const read = await merchant.api.get(`/checkout-sessions/${minimal.body['id']}`);
  expect(read.status).toBe(200);
  expect(read.body).toMatchObject({ ...sessionBody, status: 'open', description: null, cancel_url: null, completed_at: null, transaction: null, metadata: {}, line_items: [], customer: null, subtotal: null, mode: 'test', gateway: 'simulator', source: 'hosted_checkout' });
  expect(read.body).not.toHaveProperty('checkout_url');

  const full = {
    ...sessionBody,
    cancel_url: 'http://shop.test/cancel?a=1#top',
    description: 'Order 1 – größer “quotes”',
    customer: { name: 'Ada', email: 'ada@example.com', phone: '+1 555', external_customer_id: 'u-1' },
    line_items: [{ name: 'Book', quantity: 2, unit_amount: 1000, sku: 'b1', image_url: 'https://shop.test/b.png', tax_amount: 10 }, { name: 'Pen', unit_amount: 0 }],
    subtotal: 2000, tax_name: 'VAT', tax_rate: 0.15, tax_amount: 300,
    metadata: { order: 7, nested: { list: [1, { a: null }] } },
    gateway: 'simulator', expires_in_minutes: 1440, source: 'shopify_2', save_payment_method: false, locale: 'pt-BR',
  };
  const created = await merchant.api.post('/checkout-sessions', full);
  expect(created.status).toBe(201);
  const { expires_in_minutes: _, line_items: __, customer: ___, ...same } = full;
  const whole = await merchant.api.get<Record<string, unknown> & { line_items: object[] }>(`/checkout-sessions/${created.body['id']}`);
  expect(whole.body).toMatchObject(same);
  expect(whole.body['customer']).toMatchObject(full.customer);
  expect(whole.body.line_items).toEqual([
    { name: 'Book', description: null, quantity: 2, unit_amount: 1000, sku: 'b1', image_url: 'https://shop.test/b.png', tax_amount: 10 },
    { name: 'Pen', description: null, quantity: 1, unit_amount: 0, sku: null, image_url: null, tax_amount: null },
  ]);
  expect(new Date(whole.body['expires_at'] as string).getTime() - new Date(whole.body['created_at'] as string).getTime()).toBe(1440 * 60_000);
});

test('the list pages newest first, clamps its limit and tells the truth past its end', async () => {
  const own = await api.addMerchant();
  const ids: unknown[] = [];
  for (let i = 0; i < 3; i++) ids.unshift((await own.api.post('/checkout-sessions', { ...sessionBody, source: i === 0 ? 'first' : 'other' })).body['id']);
  const list = async (query: string) => own.api.get<{ data: { id: string }[]; meta: object }>(`/checkout-sessions${query}`);
  expect((await list('')).body).toMatchObject({ data: ids.map((id) => ({ id })), meta: { current_page: 1, last_page: 1, per_page: 25, total: 3 } });
  expect((await list('?page=2&limit=2')).body).toMatchObject({ data: [{ id: ids[2] }], meta: { current_page: 2, last_page: 2, per_page: 2, total: 3 } });
  expect((await list('?limit=1000000000')).body.meta).toMatchObject({ per_page: 100 });
  expect((await list('?page=999999999999999')).body).toMatchObject({ data: [], meta: { total: 3, last_page: 1 } });
  expect((await list('?source=first')).body.data).toHaveLength(1);
  expect((await list('?status=open&currency=USD&unknown=1')).body.data).toHaveLength(3);
  expect((await list('?status=completed')).body).toMatchObject({ data: [], meta: { total: 0, last_page: 1 } });
  expect((await list('?customer_id=cus_00000000000000000000000000')).body.data).toEqual([]);
  for (const bad of ['?page=0', '?limit=0', '?limit=-1', '?limit=1.5', '?limit=ten', '?page=1&page=2', '?status=paid', '?from=yesterday', '?to=2026-02-31', '?from=0000-01-01', '?source=%00']) {
    const answer = await own.api.get(`/checkout-sessions${bad}`);
    expect([bad, answer.status, answer.body['code']]).toEqual([bad, 422, 'validation_failed']);
  }
});

test('from and to are whole days in the merchant\'s time zone', async () => {
  const own = await api.addMerchant();
  await own.api.patch('/settings', { timezone: 'America/Jamaica' });
  const { body } = await own.api.post('/checkout-sessions', sessionBody);
  // 04:30 UTC on the 2nd is still the 1st in Jamaica (UTC-5).
  await api.sql(`update checkout_sessions set created_at = '2026-03-02T04:30:00Z' where id = $1`, [body['id']]);
  const count = async (query: string) => (await own.api.get<{ data: object[] }>(`/checkout-sessions?${query}`)).body.data.length;
  expect(await count('from=2026-03-01&to=2026-03-01')).toBe(1);
  expect(await count('from=2026-03-02')).toBe(0);
  expect(await count('to=2026-02-28')).toBe(0);
  expect(await count('from=2026-03-02T04:30:00Z&to=2026-03-02T04:30:00.000Z')).toBe(1);
  expect(await count(`from=${encodeURIComponent('2026-03-02T00:00:00-05:00')}`)).toBe(0);
});

test('a live key needs registered https hosts, and a registration counts at once', async () => {
  const own = await api.addMerchant();
  const body = { ...sessionBody, success_url: 'https://Shop.Example./ok', failure_url: 'https://shop.example/no' };
  const refused = await own.liveApi.post('/checkout-sessions', body);
  expect([refused.status, refused.body['code'], refused.body['param']]).toEqual([422, 'redirect_host_not_registered', 'success_url']);
  const registered = await own.liveApi.post('/domains', { hostname: 'SHOP.example', kind: 'payment_redirect' });
  expect(registered.body).toMatchObject({ hostname: 'shop.example', kind: 'payment_redirect', mode: 'live' });
  expect((await own.liveApi.post('/checkout-sessions', body)).status).toBe(201);
  const plain = await own.liveApi.post('/checkout-sessions', { ...body, failure_url: 'http://shop.example/no' });
  expect([plain.status, plain.body['code'], plain.body['param']]).toEqual([422, 'redirect_host_not_registered', 'failure_url']);
  expect((await own.liveApi.delete('/domains/shop.example')).body).toEqual({ ok: true });
  expect((await own.liveApi.post('/checkout-sessions', body)).status).toBe(422);
  // Test keys redirect wherever they like.
  expect((await own.api.post('/checkout-sessions', { ...body, failure_url: 'http://localhost:3000/no' })).status).toBe(201);
});

test('expire ends an open session, and tells why it cannot', async () => {
  const { body } = await merchant.api.post('/checkout-sessions', sessionBody);
  const path = `/checkout-sessions/${body['id']}/expire`;
  api.endSession = async () => ({ state: 'in_flight', attemptId: 'att_1', attempt: { state: 'requires_action', cutOffAtMs: 0 } });
  expect((await merchant.api.post(path)).body).toMatchObject({ code: 'session_not_open', current_status: 'open' });
  api.endSession = async (session) => {
    await api.sql(`update checkout_sessions set status = 'expired' where id = $1`, [session.id]);
    return { state: 'ended', status: 'expired' };
  };
  const expired = await merchant.api.post(path);
  expect([expired.status, expired.body['status']]).toEqual([200, 'expired']);
  const again = await merchant.api.post(path, {});
  expect([again.status, again.body['code'], again.body['current_status']]).toEqual([409, 'session_not_open', 'expired']);
});

test('recover makes a new session from a dead one and nothing from an open one', async () => {
  const { body } = await merchant.api.post('/checkout-sessions', { ...sessionBody, metadata: { order: 1 } });
  const path = `/checkout-sessions/${body['id']}/recover`;
  expect((await merchant.api.post(path)).body).toMatchObject({ code: 'session_not_open', current_status: 'open' });
  await api.sql(`update checkout_sessions set status = 'failed' where id = $1`, [body['id']]);
  const recovered = await merchant.api.post(path, { success_url: 'https://shop.test/second' });
  expect(recovered.status).toBe(201);
  expect(recovered.body['id']).not.toBe(body['id']);
  const read = await merchant.api.get(`/checkout-sessions/${recovered.body['id']}`);
  expect(read.body).toMatchObject({ status: 'open', success_url: 'https://shop.test/second', metadata: { order: 1 }, recovered_from: body['id'] });
});

test('requests are logged with the session they are about, without their bodies', async () => {
  const own = await api.addMerchant();
  const { body } = await own.api.post('/checkout-sessions', { ...sessionBody, description: 'private words' }, { idempotencyKey: 'order-9' });
  await own.api.get(`/checkout-sessions/${body['id']}`);
  await expect
    .poll(() => api.sql('select method, path, resource_id, status, idempotency_key, key_id from api_requests where merchant_id = $1 order by id', [own.merchantId]))
    .toEqual([
      { method: 'POST', path: '/api/v1/checkout-sessions', resource_id: body['id'], status: 201, idempotency_key: 'order-9', key_id: own.testKeyId },
      { method: 'GET', path: `/api/v1/checkout-sessions/${body['id']}`, resource_id: body['id'], status: 200, idempotency_key: null, key_id: own.testKeyId },
    ]);
  const rows = await api.sql<{ row: string }>('select r::text as row from api_requests r');
  expect(rows.some(({ row }) => row.includes('private') || row.includes(own.test))).toBe(false);
});
