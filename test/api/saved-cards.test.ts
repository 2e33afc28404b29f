// Saved cards, listings and totals on the whole product: real gateway, real workflows, real pages.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { payOnPage } from '../support/hosted-page.ts';
import { startStack, type Stack } from '../support/stack.ts';
import { sessionBody } from './app-fixture.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

const save = (number: string, owner: object) => stack.api.post('/tokenize', { card: { number, expiry_month: 12, expiry_year: 2040, cvc: '123' }, ...owner });
const charge = (tokenId: unknown) => stack.api.post('/charge-token', { token_id: tokenId, amount: 700, currency: 'USD' });

interface Listed extends Record<string, unknown> {
  readonly data: { readonly id: string }[];
  readonly meta: { readonly total: number };
}

test('a card saved on the page and the same one sent to /tokenize are one token', async () => {
  const session = await stack.api.post<{ id: string; checkout_url: string }>('/checkout-sessions', { ...sessionBody, customer: { external_customer_id: 'ada', name: 'Ada' } });
  await payOnPage(session.body.checkout_url, '4242424242424242', { expiry: '12 / 40' });
  const [token] = await eventually(async () => {
    const { body } = await stack.api.get<Listed>('/customers/ada/payment-tokens');
    expect(body.data).toHaveLength(1);
    return body.data;
  });
  const again = await save('4242424242424242', { external_customer_id: 'ada' });
  expect([again.status, again.body]).toEqual([200, token]);
  const paid = await stack.api.get(`/checkout-sessions/${session.body.id}`);
  const payment = (paid.body['transaction'] as { id: string }).id;
  expect((await stack.api.get(`/payments/${payment}`)).body).toMatchObject({ status: 'captured', amount_captured: 2500, amount_refundable: 2500, token_id: again.body['id'], customer: { name: 'Ada' } });
  expect((await save('4000000000000002', {})).status).toBe(201);
});

test('a card that is saved for later charges is charged as one', async () => {
  const later = await save('4000000000000341', { external_customer_id: 'bob' });
  const declined = await charge(later.body['id']);
  expect([declined.status, declined.body['decline_code']]).toEqual([402, 'insufficient_funds']);
  const good = await save('5555555555554444', { external_customer_id: 'bob' });
  expect(await charge(good.body['id'])).toMatchObject({ status: 201, body: { status: 'captured', token_id: good.body['id'] } });
  await stack.api.post(`/payment-tokens/${good.body['id']}/deactivate`);
  expect((await charge(good.body['id'])).body['code']).toBe('token_inactive');
});

test('the gateway\'s own refusal of a card names the field', async () => {
  const expired = await stack.api.post('/tokenize', { card: { number: '4242424242424242', expiry_month: 1, expiry_year: 2020, cvc: '123' } });
  expect([expired.status, expired.body['errors']]).toMatchObject([422, [{ path: 'card.expiry_month', code: 'card_rejected' }]]);
});

test('totals are what a count gives, after all that', async () => {
  const all = await stack.api.get<Listed>('/transactions');
  const [counted] = await stack.db.query<{ n: number; c: number }>(
    `select (select count(*)::integer from transactions where tried_at is not null) as n, (select count(*)::integer from customers) as c`,
  );
  expect([all.body.meta.total, all.body.data.length]).toEqual([counted?.n, counted?.n]);
  expect((await stack.api.get<Listed>('/customers')).body.meta.total).toBe(counted?.c);
  for (const status of ['captured', 'failed', 'pending', 'processing']) {
    const { body } = await stack.api.get<Listed>(`/transactions?status=${status}`);
    expect([status, body.meta.total]).toEqual([status, body.data.length]);
  }
});

test('no card number is in a row, a log or a history', async () => {
  const tables = await stack.db.query<{ name: string }>(`select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`);
  for (const { name } of tables) {
    const [found] = await stack.db.query<{ n: number }>(`select count(*)::integer as n from "${name}" r where r::text ~ '4242424242424242|5555555555554444|4000000000000341'`);
    expect([name, found?.n]).toEqual([name, 0]);
  }
  expect(stack.logs.join('')).not.toMatch(/4242424242424242|5555555555554444|4000000000000341/);
});
