// The listing of payments: what is in it, its filters, exact totals, and pages that stay put while payments come in.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { foldListingCounts } from '../../models/listing-count.ts';
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

interface Listed {
  readonly data: { readonly id: string; readonly status: string }[];
  readonly meta: { readonly total: number; readonly last_page: number };
}
const list = async (query = ''): Promise<Listed> => (await merchant.api.get<Listed & Record<string, unknown>>(`/transactions${query}`)).body;
const ids = async (query = ''): Promise<string[]> => (await list(query)).data.map((item) => item.id);

/** Tried payments, `{prefix}1` the newest, a minute apart before `newest`. */
async function insertPayments(prefix: string, count: number, row: { status?: string; newest?: string; currency?: string; source?: string; order?: string; customer?: string } = {}): Promise<void> {
  await api.sql(
    `insert into transactions (id, merchant_id, mode, status, amount, currency, source, order_id, customer_id, gateway, receipt_number, tried_at, created_at, updated_at)
     select $1 || i, $2, 'test', $4, 100, $5, $6, $7, $8, 'simulator', 'R', now(), $9::timestamptz - i * interval '1 minute', now() from generate_series(1, $3::integer) i`,
    [prefix, merchant.merchantId, count, row.status ?? 'captured', row.currency ?? 'USD', row.source ?? 'api', row.order ?? null, row.customer ?? null, row.newest ?? '2026-05-01T12:00:00Z'],
  );
}

test('a payment is listed from its first attempt on, as its record without refunds and custom-field responses', async () => {
  const session = await merchant.api.post('/checkout-sessions', { ...sessionBody, description: 'Order 7' });
  expect(await list()).toEqual({ data: [], meta: { current_page: 1, last_page: 1, per_page: 25, total: 0 } });
  await api.sql(`update transactions set tried_at = now(), status = 'captured', amount_captured = amount where session_id = $1`, [session.body['id']]);
  const { data, meta } = await list();
  expect(meta).toEqual({ current_page: 1, last_page: 1, per_page: 25, total: 1 });
  const record = await merchant.api.get(`/payments/${data[0]?.id}`);
  const { refunds, custom_field_responses, ...item } = record.body;
  expect([refunds, custom_field_responses]).toEqual([[], []]);
  expect(data[0]).toEqual(item);
});

test('every filter narrows the data and the total', async () => {
  await insertPayments('txn_a', 3, { customer: 'cus_1', order: 'order-1' });
  await insertPayments('txn_b', 2, { status: 'failed', newest: '2026-04-01T12:00:00Z', source: 'shopify' });
  await insertPayments('txn_c', 1, { status: 'refunded', newest: '2026-03-01T12:00:00Z', currency: 'JMD' });
  for (const [query, expected] of [
    ['', 6], ['?status=captured', 3], ['?status=failed', 2], ['?status=voided', 0], ['?currency=JMD', 1], ['?source=shopify', 2], ['?order_id=order-1', 3], ['?customer_id=cus_1', 3],
    ['?customer_id=cus_2', 0], ['?from=2026-04-01', 5], ['?from=2026-04-01&to=2026-04-01', 2], ['?to=2026-03-31', 1], ['?to=2026-03-31&status=captured', 0], ['?status=captured&customer_id=cus_1', 3],
    ['?from=2026-05-01T11:58:00Z&to=2026-05-01T11:59:00Z', 2], ['?unknown=1', 6],
  ] as const) {
    const { data, meta } = await list(query);
    expect([query, data.length, meta.total]).toEqual([query, expected, expected]);
  }
  for (const bad of ['?status=paid', '?page=0', '?page=-1', '?page=1.5', '?limit=0', '?limit=ten', '?from=soon', '?to=2026-02-30', '?status=captured&status=failed', '?source=%00']) {
    const answer = await merchant.api.get(`/transactions${bad}`);
    expect([bad, answer.status, answer.body['code']]).toEqual([bad, 422, 'validation_failed']);
  }
});

test('dates are whole days in the merchant\'s time zone', async () => {
  await merchant.api.patch('/settings', { timezone: 'America/Jamaica' });
  // 04:30 UTC on the 2nd is still the 1st in Jamaica.
  await insertPayments('txn_j', 1, { newest: '2026-03-02T04:31:00Z' });
  expect((await list('?from=2026-03-01&to=2026-03-01')).meta.total).toBe(1);
  expect((await list('?from=2026-03-02')).meta.total).toBe(0);
});

test('pages have exact meta, the limit clamps, and a page past the end is empty', async () => {
  await insertPayments('txn_p', 130);
  expect((await list()).meta).toEqual({ current_page: 1, last_page: 6, per_page: 25, total: 130 });
  const clamped = await list('?limit=500&page=2');
  expect([clamped.data.length, clamped.meta]).toEqual([30, { current_page: 2, last_page: 2, per_page: 100, total: 130 }]);
  const past = await list('?page=999999999999999');
  expect([past.data, past.meta]).toEqual([[], { current_page: 999999999999999, last_page: 6, per_page: 25, total: 130 }]);
  const walked: string[] = [];
  for (let page = 1; page <= 6; page++) walked.push(...(await ids(`?page=${page}`)));
  expect(walked).toEqual(Array.from({ length: 130 }, (_, i) => `txn_p${i + 1}`));
});

test('payments of one instant keep one order, by id', async () => {
  for (const id of ['txn_t2', 'txn_t1', 'txn_t3']) await insertPayments(id, 1);
  expect(await ids()).toEqual(['txn_t31', 'txn_t21', 'txn_t11']);
  expect([await ids('?limit=1&page=1'), await ids('?limit=1&page=2'), await ids('?limit=1&page=3')].flat()).toEqual(['txn_t31', 'txn_t21', 'txn_t11']);
});

test('a walk while payments come in misses none that was there and keeps their order', async () => {
  await insertPayments('txn_w', 60);
  const seen: string[] = [];
  for (let page = 1; page <= 9; page++) {
    seen.push(...(await ids(`?limit=10&page=${page}`)));
    // Each is newer than all before it and moves the rest on by three.
    await insertPayments(`txn_n${page}_`, 3, { newest: `2026-05-02T1${page}:00:00Z` });
  }
  const old = seen.filter((id) => id.startsWith('txn_w'));
  expect(new Set(old).size).toBe(60);
  expect([...new Set(old)]).toEqual(Array.from({ length: 60 }, (_, i) => `txn_w${i + 1}`));
});

test('totals are exact at every moment: while payments move and while deltas are folded', async () => {
  await insertPayments('txn_m', 40);
  const counted = async (status: string): Promise<number> => (await list(`?status=${status}`)).meta.total;
  await Promise.all([
    ...Array.from({ length: 40 }, (_, i) => api.sql(`update transactions set status = $2 where id = $1`, [`txn_m${i + 1}`, i % 4 === 0 ? 'refunded' : 'partially_refunded'])),
    ...Array.from({ length: 6 }, () => foldListingCounts(api.db, 7)),
    ...Array.from({ length: 10 }, async () => expect((await list()).meta.total).toBe(40)),
  ]);
  expect([await counted('captured'), await counted('refunded'), await counted('partially_refunded')]).toEqual([0, 10, 30]);
  while ((await foldListingCounts(api.db, 1000)) > 0);
  expect([await counted('captured'), await counted('refunded'), await counted('partially_refunded'), (await list()).meta.total]).toEqual([0, 10, 30, 40]);
});

test('another merchant and the other mode see none of it', async () => {
  await insertPayments('txn_x', 3, { customer: 'cus_x' });
  expect((await merchant.liveApi.get('/transactions')).body).toMatchObject({ data: [], meta: { total: 0 } });
  merchant = await api.addMerchant();
  expect(await list('?customer_id=cus_x')).toMatchObject({ data: [], meta: { total: 0 } });
});
