// GET /payments/{id}: the full record, as the rows stand.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sessionBody, startApi, type TestApi, type TestMerchant } from './app-fixture.ts';

let api: TestApi;
let merchant: TestMerchant;
beforeAll(async () => {
  api = await startApi();
  merchant = await api.addMerchant();
});
afterAll(() => api.stop());

async function reservedPayment(body: object = {}): Promise<{ id: string; sessionId: string }> {
  const session = await merchant.api.post('/checkout-sessions', { ...sessionBody, ...body });
  const sessionId = session.body['id'] as string;
  const [row] = await api.sql<{ id: string }>('select id from transactions where session_id = $1', [sessionId]);
  return { id: row?.id ?? '', sessionId };
}

test('a reserved payment has the whole record, null where nothing is known', async () => {
  const { id, sessionId } = await reservedPayment({ description: 'Order 7', metadata: { order: 7 } });
  const { status, body } = await merchant.api.get(`/payments/${id}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    id,
    receipt_number: expect.any(String),
    status: 'pending',
    amount: 2500,
    amount_captured: 0,
    amount_refunded: 0,
    amount_refundable: 0,
    currency: 'USD',
    mode: 'test',
    source: 'hosted_checkout',
    description: 'Order 7',
    customer: null,
    payment_method: { type: 'card', card_brand: null, card_last4: null, expiry_month: null, expiry_year: null },
    card_brand: null,
    card_last4: null,
    gateway: { name: 'Simulator', slug: 'simulator' },
    gateway_transaction_id: null,
    token_id: null,
    session_id: sessionId,
    subscription_id: null,
    payment_link: null,
    order_id: null,
    custom_field_responses: [],
    refunds: [],
    dispute: null,
    pending_operation: null,
    failure: null,
    metadata: { order: 7 },
    created_at: expect.any(String),
    authorized_at: null,
    captured_at: null,
    voided_at: null,
  });
});

test('the reserved payment of a session that is over by the clock reads as expired, like the session', async () => {
  const { id, sessionId } = await reservedPayment();
  await api.sql(`update checkout_sessions set expires_at = now() - interval '1 second' where id = $1`, [sessionId]);
  expect((await merchant.api.get(`/payments/${id}`)).body['status']).toBe('expired');
  await api.sql(`update checkout_sessions set attempt_in_flight = true where id = $1`, [sessionId]);
  expect((await merchant.api.get(`/payments/${id}`)).body['status']).toBe('pending');
});

test('refunds are listed oldest first, and pending ones hold their amount', async () => {
  const { id } = await reservedPayment();
  await api.sql(
    `update transactions set status = 'partially_refunded', tried_at = now(), captured_at = '2026-01-02T03:04:05.678Z', amount_captured = 2500,
       amount_refunded = 500, amount_refund_pending = 300, card_brand = 'visa', card_last4 = '4242', card_expiry_month = 1, card_expiry_year = 2031,
       customer_name = 'Ada', gateway_transaction_id = 'sim_1' where id = $1`,
    [id],
  );
  for (const [n, refundId, status, amount] of [[2, 'rf_b', 'pending', 300], [1, 'rf_a', 'succeeded', 500]]) {
    await api.sql(
      `insert into refunds (id, transaction_id, merchant_id, mode, amount, currency, status, type, receipt_number, gateway_key, n, created_at, completed_at)
       values ($1, $2, $3, 'test', $4, 'USD', $5, 'partial', 'R', $1, $6, '2026-01-03T00:00:00.120Z', case when $5 = 'succeeded' then now() end)`,
      [refundId, id, merchant.merchantId, amount, status, n],
    );
  }
  const { body } = await merchant.api.get<Record<string, unknown> & { refunds: object[] }>(`/payments/${id}`);
  expect(body).toMatchObject({
    amount_captured: 2500,
    amount_refunded: 500,
    amount_refundable: 1700,
    captured_at: '2026-01-02T03:04:05.678Z',
    customer: { id: null, name: 'Ada', email: null, phone: null },
    payment_method: { type: 'card', card_brand: 'visa', card_last4: '4242', expiry_month: 1, expiry_year: 2031 },
  });
  expect(body.refunds).toMatchObject([
    { id: 'rf_a', payment_id: id, amount: 500, status: 'succeeded', amount_refunded_total: 500, amount_refundable: 1700, created_at: '2026-01-03T00:00:00.120Z' },
    { id: 'rf_b', status: 'pending', completed_at: null },
  ]);
});
