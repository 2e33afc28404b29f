// Customers: create, read, change, list; the merchant's own id is unique, whoever comes first.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi, type TestMerchant } from './app-fixture.ts';

let api: TestApi;
let merchant: TestMerchant;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

async function newMerchant(): Promise<TestMerchant> {
  merchant = await api.addMerchant();
  return merchant;
}

test('creating answers 201 with the record, and reading gives the same', async () => {
  await newMerchant();
  const input = { external_customer_id: 'user/7', name: 'Ada Ünal', email: 'ada@example.com', phone: '+1 555 0100', metadata: { tier: 'gold' } };
  const created = await merchant.api.post('/customers', input);
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    id: expect.stringMatching(/^cus_[0-9a-z]{26}$/), ...input, mode: 'test', default_token_id: null, tokens_count: 0, created_at: expect.any(String), updated_at: expect.any(String),
  });
  expect((await merchant.api.get(`/customers/${created.body['id']}`)).body).toEqual(created.body);
  const bare = await merchant.api.post('/customers', {});
  expect(bare.body).toMatchObject({ external_customer_id: null, name: null, email: null, phone: null, metadata: {} });
});

test('an external id is unique per merchant and mode', async () => {
  await newMerchant();
  expect((await merchant.api.post('/customers', { external_customer_id: 'u1' })).status).toBe(201);
  const second = await merchant.api.post('/customers', { external_customer_id: 'u1', name: 'Other' });
  expect([second.status, second.body['code'], second.body['param']]).toEqual([409, 'customer_exists', 'external_customer_id']);
  expect((await merchant.liveApi.post('/customers', { external_customer_id: 'u1' })).status).toBe(201);
  expect((await (await api.addMerchant()).api.post('/customers', { external_customer_id: 'u1' })).status).toBe(201);
});

test('of twenty at once with one external id, one is created', async () => {
  await newMerchant();
  const answers = await Promise.all(Array.from({ length: 20 }, () => merchant.api.post('/customers', { external_customer_id: 'race' })));
  expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
});

test('an Idempotency-Key gives the same customer again, and the same refusal', async () => {
  await newMerchant();
  const create = (key: string) => merchant.api.post('/customers', { external_customer_id: 'idem' }, { idempotencyKey: key });
  const first = await create('k1');
  const again = await create('k1');
  expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([201, first.text, 'true']);
  const refused = await create('k2');
  expect(refused.status).toBe(409);
  expect((await create('k2')).text).toBe(refused.text);
});

test('changing keeps what is left out, clears what is null and replaces metadata as a whole', async () => {
  await newMerchant();
  const { body } = await merchant.api.post('/customers', { external_customer_id: 'u2', name: 'Ada', email: 'a@example.com', metadata: { a: 1, b: 2 } });
  const path = `/customers/${body['id']}`;
  const changed = await merchant.api.patch(path, { name: null, phone: '1', metadata: { c: 3 } });
  expect([changed.status, changed.body]).toEqual([200, { ...body, name: null, phone: '1', metadata: { c: 3 }, updated_at: changed.body['updated_at'] }]);
  expect((await merchant.api.patch(path, {})).body).toMatchObject({ phone: '1', external_customer_id: 'u2' });
  await merchant.api.post('/customers', { external_customer_id: 'u3' });
  const taken = await merchant.api.patch(path, { external_customer_id: 'u3' });
  expect([taken.status, taken.body['code']]).toEqual([409, 'customer_exists']);
  expect((await merchant.api.patch(path, { external_customer_id: null })).body['external_customer_id']).toBeNull();
});

test('bad fields are named, all of them', async () => {
  await newMerchant();
  const answer = await merchant.api.post('/customers', { external_customer_id: '', email: 'x', name: 1, phone: 'x'.repeat(51), nick: 1, metadata: [] });
  expect(answer.status).toBe(422);
  expect((answer.body['errors'] as { path: string }[]).map((error) => error.path).toSorted()).toEqual(['email', 'external_customer_id', 'metadata', 'name', 'nick', 'phone']);
});

test('the default card is the one chosen while it is active, else the newest', async () => {
  await newMerchant();
  const { body: customer } = await merchant.api.post('/customers', {});
  const save = async (number: string) =>
    (await merchant.api.post('/tokenize', { customer_id: customer['id'], card: { number, expiry_month: 1, expiry_year: 2040, cvc: '123' } })).body['id'] as string;
  const [first, second] = [await save('4242424242424242'), await save('5555555555554444')];
  const path = `/customers/${customer['id']}`;
  expect((await merchant.api.get(path)).body).toMatchObject({ default_token_id: second, tokens_count: 2 });
  expect((await merchant.api.patch(path, { default_token_id: first })).body).toMatchObject({ default_token_id: first });
  await merchant.api.post(`/payment-tokens/${first}/deactivate`);
  expect((await merchant.api.get(path)).body).toMatchObject({ default_token_id: second, tokens_count: 1 });
  expect((await merchant.api.patch(path, { default_token_id: first })).body).toMatchObject({ code: 'token_inactive', param: 'default_token_id' });
  const stranger = await merchant.api.post('/customers', {});
  expect((await merchant.api.patch(`/customers/${stranger.body['id']}`, { default_token_id: second })).body).toMatchObject({ code: 'token_not_found' });
  expect((await merchant.api.get(`/customers/${stranger.body['id']}`)).body['default_token_id']).toBeNull();
});

test('the list pages newest first with true totals, filtered or not', async () => {
  const own = await newMerchant();
  const ids: unknown[] = [];
  for (let i = 0; i < 5; i++) ids.unshift((await own.api.post('/customers', { external_customer_id: `e${i}`, email: i < 2 ? 'same@example.com' : null })).body['id']);
  const list = async (query: string) => (await own.api.get<{ data: { id: string }[]; meta: object }>(`/customers${query}`)).body;
  expect(await list('')).toMatchObject({ data: ids.map((id) => ({ id })), meta: { current_page: 1, last_page: 1, per_page: 25, total: 5 } });
  expect(await list('?page=2&limit=2')).toMatchObject({ data: [{ id: ids[2] }, { id: ids[3] }], meta: { current_page: 2, last_page: 3, per_page: 2, total: 5 } });
  expect(await list('?limit=500')).toMatchObject({ meta: { per_page: 100 } });
  expect(await list('?page=9')).toMatchObject({ data: [], meta: { current_page: 9, last_page: 1, total: 5 } });
  expect(await list('?external_customer_id=e3')).toMatchObject({ data: [{ external_customer_id: 'e3' }], meta: { total: 1 } });
  expect(await list('?email=same@example.com')).toMatchObject({ meta: { total: 2 } });
  expect(await list('?to=2000-01-01')).toEqual({ data: [], meta: { current_page: 1, last_page: 1, per_page: 25, total: 0 } });
  for (const bad of ['?page=0', '?limit=0', '?limit=1.5', '?from=soon']) expect([bad, (await own.api.get(`/customers${bad}`)).status]).toEqual([bad, 422]);
  expect((await own.liveApi.get('/customers')).body).toEqual({ data: [], meta: { current_page: 1, last_page: 1, per_page: 25, total: 0 } });
});
