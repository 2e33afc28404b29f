// Saving cards, looking them up and deactivating them. The vault is the fixture's; the real one has its contract suite.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { allowDirectCards } from '../../operations/allow-direct-cards.ts';
import { seal } from '../../platform/seal.ts';
import { sessionBody, startApi, type TestApi, type TestMerchant } from './app-fixture.ts';

let api: TestApi;
let merchant: TestMerchant;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  merchant = await api.addMerchant();
});
afterAll(() => api.stop());

const card = { number: '4242 4242 4242 4242', expiry_month: 12, expiry_year: 2040, cvc: '123', name: 'Ada Ünal' };
const tokenize = (body: object, options?: { idempotencyKey: string }) => merchant.api.post('/tokenize', body, options);

test('a card becomes a token of a new customer, without its number being kept anywhere', async () => {
  const saved = await tokenize({ card });
  expect(saved.status).toBe(201);
  expect(saved.body).toEqual({
    id: expect.stringMatching(/^pt_[0-9a-z]{26}$/), status: 'active', brand: 'visa', last4: '4242', expiry_month: 12, expiry_year: 2040,
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/), gateway: { name: 'Simulator', slug: 'simulator' }, customer_id: expect.stringMatching(/^cus_/), created_at: expect.any(String),
  });
  expect((await merchant.api.get(`/payment-tokens/${saved.body['id']}`)).body).toEqual(saved.body);
  expect((await merchant.api.get(`/customers/${saved.body['customer_id']}`)).body).toMatchObject({ name: 'Ada Ünal', tokens_count: 1 });
  const [row] = await api.sql<{ all: string }>('select k::text || c::text as all from payment_tokens k join customers c on c.id = k.customer_id where k.id = $1', [saved.body['id']]);
  expect(row?.all).not.toContain('424242424242');
  expect(row?.all).not.toContain('kept_');
  expect(api.logs.join('')).not.toMatch(/4242 ?4242 ?4242/);
});

test('the same card of the same customer at the same gateway is the same token, 200', async () => {
  const first = await tokenize({ card, external_customer_id: 'u1' });
  const again = await tokenize({ card: { ...card, number: '4242-4242-4242-4242', cvc: '999' }, customer_id: first.body['customer_id'] });
  expect([again.status, again.body]).toEqual([200, first.body]);
  const otherCustomer = await tokenize({ card, external_customer_id: 'u2' });
  expect([otherCustomer.status, otherCustomer.body['fingerprint']]).toEqual([201, first.body['fingerprint']]);
  expect(otherCustomer.body['customer_id']).not.toBe(first.body['customer_id']);
  const elsewhere = await (await api.addMerchant()).api.post('/tokenize', { card });
  expect(elsewhere.body['fingerprint']).not.toBe(first.body['fingerprint']);
});

test('a renewed card keeps its token and takes the new date', async () => {
  const first = await tokenize({ card, external_customer_id: 'u1' });
  const renewed = await tokenize({ card: { ...card, expiry_year: 2044 }, external_customer_id: 'u1' });
  expect([renewed.status, renewed.body]).toEqual([200, { ...first.body, expiry_year: 2044 }]);
});

test('twenty at once make one customer and one token', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => tokenize({ card, external_customer_id: 'race' })));
  expect(answers.map((answer) => answer.status).toSorted()).toEqual([...Array.from({ length: 19 }, () => 200), 201]);
  expect(new Set(answers.map((answer) => answer.body['id'])).size).toBe(1);
  expect((await merchant.api.get('/customers')).body).toMatchObject({ meta: { total: 1 } });
});

test('twenty at once with one Idempotency-Key make one customer and one token, and one answer', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => tokenize({ card }, { idempotencyKey: 'once' })));
  expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
  expect(answers[0]?.status).toBe(201);
  const later = await tokenize({ card: { ...card, cvc: '321' } }, { idempotencyKey: 'once' });
  expect([later.status, later.text]).toEqual([201, answers[0]?.text]);
  expect((await tokenize({ card: { ...card, expiry_month: 1 } }, { idempotencyKey: 'once' })).body['code']).toBe('idempotency_key_reused');
  expect((await merchant.api.get('/customers')).body).toMatchObject({ meta: { total: 1 } });
});

test('a deactivated token stays dead, repeating changes nothing, and the card gets a new token', async () => {
  const { body } = await tokenize({ card, external_customer_id: 'u1' });
  const path = `/payment-tokens/${body['id']}`;
  const off = await merchant.api.post(`${path}/deactivate`);
  expect([off.status, off.body]).toEqual([200, { id: body['id'], status: 'deactivated', deactivated_at: expect.any(String), affected_subscriptions: [] }]);
  expect((await merchant.api.post(`${path}/deactivate`, {})).body).toEqual(off.body);
  expect((await merchant.api.get(path)).body).toMatchObject({ status: 'deactivated' });
  const anew = await tokenize({ card, external_customer_id: 'u1' });
  expect(anew.status).toBe(201);
  expect(anew.body['id']).not.toBe(body['id']);
  expect((await merchant.api.get(path)).body).toMatchObject({ status: 'deactivated' });
});

test('a customer\'s active cards are listed newest first, by either id, and an unknown customer has none', async () => {
  const external = 'shop/user 7%';
  const first = await tokenize({ card, external_customer_id: external });
  const second = await tokenize({ card: { ...card, number: '5555555555554444' }, external_customer_id: external });
  const third = await tokenize({ card: { ...card, number: '378282246310005', cvc: '1234' }, external_customer_id: external });
  await merchant.api.post(`/payment-tokens/${second.body['id']}/deactivate`);
  const list = async (id: string) => (await merchant.api.get(`/customers/${encodeURIComponent(id)}/payment-tokens`)).body;
  expect(await list(external)).toEqual({ data: [third.body, first.body] });
  expect(await list(first.body['customer_id'] as string)).toEqual({ data: [third.body, first.body] });
  expect(await list('nobody')).toEqual({ data: [] });
});

test('what a gateway refuses or does not answer is told, and nothing is saved', async () => {
  const rejected = await tokenize({ card: { ...card, number: '4000000000000127' } });
  expect([rejected.status, rejected.body['code'], rejected.body['errors']]).toEqual([422, 'validation_failed', [{ path: 'card.cvc', code: 'card_rejected', message: 'The security code is not valid.' }]]);
  const silent = await tokenize({ card: { ...card, number: '4000000000000119' } }, { idempotencyKey: 'k' });
  expect([silent.status, silent.body['code']]).toEqual([502, 'gateway_unavailable']);
  expect((await tokenize({ card }, { idempotencyKey: 'k' })).status).toBe(201);
  expect((await merchant.api.get('/customers')).body).toMatchObject({ meta: { total: 1 } });
});

test('live keys may send cards only for merchants switched on for it', async () => {
  const refused = await merchant.liveApi.post('/tokenize', { card });
  expect([refused.status, refused.body['code'], refused.body['param']]).toEqual([422, 'direct_card_not_allowed', 'card']);
  await allowDirectCards(api.operations, merchant.merchantId, true);
  expect((await merchant.liveApi.post('/tokenize', { card })).status).toBe(201);
  await allowDirectCards(api.operations, merchant.merchantId, false);
  expect((await merchant.liveApi.post('/tokenize', { card })).status).toBe(422);
  await expect(allowDirectCards(api.operations, 'mer_nobody', true)).rejects.toMatchObject({ code: 'not_found' });
});

test.each([
  [{}, 'card', 'required'],
  [{ card, payment_id: 'txn_00000000000000000000000000' }, 'payment_id', 'not_allowed'],
  [{ card, customer_id: 'cus_00000000000000000000000000', external_customer_id: 'x' }, 'external_customer_id', 'not_allowed'],
  [{ card: { ...card, number: '4242424242424241' } }, 'card.number', 'invalid_card_number'],
  [{ card: { ...card, number: '4242' } }, 'card.number', 'invalid_card_number'],
  [{ card: { ...card, number: 4242424242424242 } }, 'card.number', 'wrong_type'],
  [{ card: { ...card, expiry_month: 13 } }, 'card.expiry_month', 'out_of_range'],
  [{ card: { ...card, expiry_year: '2040' } }, 'card.expiry_year', 'wrong_type'],
  [{ card: { ...card, expiry_year: 40 } }, 'card.expiry_year', 'out_of_range'],
  [{ card: { ...card, cvc: '12a' } }, 'card.cvc', 'invalid_cvc'],
  [{ card: { ...card, pin: '1' } }, 'card.pin', 'unknown_field'],
  [{ card, gateway: 'nobody' }, 'gateway', 'gateway_not_found'],
  [{ card, customer_id: 'cus_00000000000000000000000000' }, 'customer_id', 'customer_not_found'],
  [{ card, customer_id: 'nonsense' }, 'customer_id', 'customer_not_found'],
  [{ payment_id: 'txn_00000000000000000000000000' }, 'payment_id', 'payment_not_found'],
])('bad input %# is refused at its field without being repeated', async (body, path, code) => {
  const answer = await tokenize(body);
  expect([answer.status, answer.body['errors']]).toMatchObject([422, [{ path, code }]]);
  expect(answer.text).not.toMatch(/4242/);
});

test('another merchant\'s or mode\'s customer is answered like an absent one', async () => {
  const other = await (await api.addMerchant()).api.post('/customers', {});
  const live = await merchant.liveApi.post('/customers', {});
  const absent = await tokenize({ card, customer_id: 'cus_00000000000000000000000000' });
  for (const id of [other.body['id'], live.body['id']]) {
    const answer = await tokenize({ card, customer_id: id });
    expect({ ...answer.body, request_id: '' }).toEqual({ ...absent.body, request_id: '' });
  }
});

async function approvedPayment(customerId: string | null): Promise<string> {
  const session = await merchant.api.post('/checkout-sessions', sessionBody);
  const [row] = await api.sql<{ id: string }>('select id from transactions where session_id = $1', [session.body['id']]);
  const id = row?.id ?? '';
  const attemptId = api.operations.newId('attempt');
  const sealed = seal(api.operations.keyRing, 'gateway-token', attemptId, 'kept_by_payment');
  await api.sql(`update transactions set status = 'captured', tried_at = now(), amount_captured = amount, customer_id = $2, customer_email = 'payer@example.com' where id = $1`, [id, customerId]);
  await api.sql(
    `insert into payment_attempts (id, transaction_id, session_id, merchant_id, mode, n, status, gateway, gateway_key, initiated_by, sealed_card_reference, card)
     values ($1, $2, $3, $4, 'test', 1, 'approved', 'simulator', $1, 'cardholder', $5,
       '{"brand": "visa", "last4": "1111", "expiryMonth": 5, "expiryYear": 2039, "fingerprint": "fp1"}')`,
    [attemptId, id, session.body['id'], merchant.merchantId, sealed],
  );
  return id;
}

test('the card of an approved payment can be saved, for its own customer, another one or a new one', async () => {
  const customer = await merchant.api.post('/customers', {});
  const paymentId = await approvedPayment(customer.body['id'] as string);
  const saved = await tokenize({ payment_id: paymentId });
  expect([saved.status, saved.body]).toMatchObject([201, { last4: '1111', expiry_month: 5, expiry_year: 2039, customer_id: customer.body['id'] }]);
  expect((await tokenize({ payment_id: paymentId })).body).toEqual(saved.body);
  expect((await tokenize({ payment_id: paymentId, external_customer_id: 'other' })).status).toBe(201);
  const anonymous = await tokenize({ payment_id: await approvedPayment(null) });
  expect((await merchant.api.get(`/customers/${anonymous.body['customer_id']}`)).body).toMatchObject({ email: 'payer@example.com', tokens_count: 1 });
  expect((await tokenize({ payment_id: paymentId, gateway: 'nobody' })).body['code']).toBe('token_gateway_mismatch');
  // Live keys send no card data here, so they need no switch; but the payment is not theirs.
  expect((await merchant.liveApi.post('/tokenize', { payment_id: paymentId })).body['param']).toBe('payment_id');
});
