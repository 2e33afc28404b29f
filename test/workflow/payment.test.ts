// Money without a page, over the whole stack: charge, capture, void, refund, with lost answers, races and lapses.
import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { finishChallenge } from '../contract/simulator-harness.ts';
import { eventually } from '../support/eventually.ts';
import { openPage, payOnPage } from '../support/hosted-page.ts';
import { type Stack, startStack, type TestMerchant } from '../support/stack.ts';

type Json = Record<string, unknown> & { id: string; status: string };

let stack: Stack;
/** A new one for each test, so that none meets another's rate limit. */
let merchant: TestMerchant;
beforeAll(async () => {
  stack = await startStack();
});
beforeEach(async () => {
  merchant = await stack.addMerchant();
});
afterAll(() => stack.stop());

const urls = { success_url: 'https://shop.example/paid', failure_url: 'https://shop.example/failed' };

/** A saved card, made as a customer makes one: by paying. */
async function saveCard(number: string, gateway = 'simulator'): Promise<string> {
  const { body: session } = await merchant.api.post<Json & { checkout_url: string }>('/checkout-sessions', { amount: 100, currency: 'USD', gateway, ...urls });
  await payOnPage(session.checkout_url, number);
  const paid = await merchant.api.get<{ transaction: { token_id: string } }>(`/checkout-sessions/${session.id}`);
  return paid.body.transaction.token_id;
}
const charge = (token: string, fields: object = {}, idempotencyKey?: string) =>
  merchant.api.post<Json>('/charge-token', { token_id: token, amount: 1000, currency: 'USD', ...fields }, idempotencyKey === undefined ? {} : { idempotencyKey });
const read = async (id: string): Promise<Json> => (await merchant.api.get<Json>(`/payments/${id}`)).body;
async function ledger(reference: string): Promise<{ type: string; status: string; amount: number; amount_captured?: number; amount_refunded?: number }[]> {
  const answer = await request(`${stack.simulator.url}/ledger?reference=${reference}`, { headers: { authorization: `Bearer ${stack.simulator.secret}` } });
  return ((await answer.body.json()) as { data: never[] }).data;
}
const eventsOf = async (paymentId: string): Promise<{ type: string; data: Record<string, unknown> }[]> => {
  const rows = await stack.db.query<{ type: string; body: string }>('select type, body from events where resource_id = $1 order by sequence', [paymentId]);
  return rows.map((row) => ({ type: row.type, data: (JSON.parse(row.body) as { data: Record<string, unknown> }).data }));
};
const control = async (body: object): Promise<void> => {
  const answer = await request(`${stack.simulator.url}/control`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${stack.simulator.secret}` },
    body: JSON.stringify(body),
  });
  expect(answer.statusCode).toBe(200);
  await answer.body.dump();
};

describe('charging a saved card', () => {
  it('captures, answers 201 with the record and tells the merchant', async () => {
    const token = await saveCard('4242424242424242');
    const answer = await charge(token, { order_id: 'o-1', metadata: { a: 1 } });
    expect(answer).toMatchObject({ status: 201, body: { status: 'captured', amount: 1000, amount_captured: 1000, amount_refundable: 1000, token_id: token, order_id: 'o-1', session_id: null } });
    expect((await eventsOf(answer.body.id)).map((event) => event.type)).toEqual(['payment.completed']);
    expect(await ledger(answer.body.id)).toMatchObject([{ type: 'charge', status: 'captured', amount: 1000 }]);
  });

  it('charges once for fifty requests with one key and answers them alike', async () => {
    const token = await saveCard('4242424242424242');
    const answers = await Promise.all(Array.from({ length: 50 }, () => charge(token, {}, 'one-key')));
    const done = answers.filter((answer) => answer.status === 201);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map((answer) => answer.text)).size).toBe(1);
    expect(answers.every((answer) => answer.status === 201 || answer.status === 409 || answer.status === 429)).toBe(true);
    const [count] = await stack.db.query<{ n: number }>(`select count(*)::int as n from transactions where merchant_id = $1 and source = 'api'`, [merchant.merchantId]);
    expect(count?.n).toBe(1);
  });

  it('answers a decline with 402, keeps the record and repeats itself byte for byte', async () => {
    const token = await saveCard('4000000000000341');
    const first = await charge(token, {}, 'declined');
    expect(first).toMatchObject({ status: 402, body: { code: 'card_declined', decline_code: 'insufficient_funds' } });
    const again = await charge(token, {}, 'declined');
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
    const id = String(first.body['payment_id']);
    expect(await read(id)).toMatchObject({ status: 'failed', failure: { decline_code: 'insufficient_funds', retryable: true } });
    expect((await eventsOf(id)).map((event) => event.type)).toEqual(['payment.failed']);
  });

  it('answers 202 while the outcome is unknown, looks it up and then gives the retry its final answer', async () => {
    const token = await saveCard('4242424242424242', 'simulator_b');
    await control({ slug: 'simulator_b', behaviour: 'lost', only: ['charge'], times: 1 });
    const first = await charge(token, {}, 'unknown');
    expect(first).toMatchObject({ status: 202, body: { status: 'processing', pending_operation: 'charge' } });
    expect(await merchant.api.post(`/payments/${first.body.id}/refund`)).toMatchObject({ status: 409, body: { code: 'payment_outcome_pending' } });
    const final = await eventually(
      async () => {
        const retry = await charge(token, {}, 'unknown');
        expect(retry.status).toBe(201);
        return retry;
      },
      { withinMs: 40_000, everyMs: 2_000 },
    );
    expect(final.body).toMatchObject({ id: first.body.id, status: 'captured' });
    expect((await ledger(first.body.id)).filter((row) => row.status === 'captured')).toHaveLength(1);
  });

  it('answers 502 when the gateway was surely not reached, and the key is free again', async () => {
    const token = await saveCard('4242424242424242', 'simulator_b');
    await control({ slug: 'simulator_b', behaviour: 'down' });
    const refused = await charge(token, {}, 'down');
    await control({ slug: 'simulator_b', behaviour: 'ok' });
    expect(refused).toMatchObject({ status: 502, body: { code: 'gateway_unavailable' } });
    expect((await charge(token, {}, 'down')).status).toBe(201);
  });

  it('leads a customer whose bank demands authentication to a page that finishes this payment', async () => {
    const token = await saveCard('4242424242424242');
    // The same customer's challenge card, saved by a payment that was authenticated.
    const { body: session } = await merchant.api.post<Json & { checkout_url: string }>('/checkout-sessions', { amount: 100, currency: 'USD', ...urls });
    const { location } = await payOnPage(session.checkout_url, '4000000000003220');
    await openPage(await finishChallenge(String(location), 'complete'));
    const challenged = (await merchant.api.get<{ transaction: { token_id: string } }>(`/checkout-sessions/${session.id}`)).body.transaction.token_id;
    expect(challenged).not.toBe(token);

    const demanded = await charge(challenged, { success_url: 'https://shop.example/thanks' });
    expect(demanded).toMatchObject({ status: 402, body: { code: 'authentication_required' } });
    const id = String(demanded.body['payment_id']);
    const page = String(demanded.body['checkout_url']);
    expect(await read(id)).toMatchObject({ status: 'requires_action' });
    expect(await eventsOf(id)).toEqual([]);
    const atBank = await payOnPage(page, '', { method: challenged });
    expect(atBank.location).toContain('/3ds/');
    const back = await openPage(await finishChallenge(String(atBank.location), 'complete'));
    expect(back.location).toMatch(/^https:\/\/shop\.example\/thanks\?session_id=cs_/);
    expect(await read(id)).toMatchObject({ status: 'captured', token_id: challenged });
  });

  it('refuses tokens that are absent, deactivated or of another gateway', async () => {
    const token = await saveCard('4242424242424242');
    expect(await charge('pt_01m7z9090000000000000000zz')).toMatchObject({ status: 422, body: { code: 'token_not_found' } });
    expect(await charge(token, { gateway: 'simulator_b' })).toMatchObject({ status: 422, body: { code: 'token_gateway_mismatch' } });
    const stranger = await stack.addMerchant();
    expect(await stranger.api.post('/charge-token', { token_id: token, amount: 100, currency: 'USD' })).toMatchObject({ status: 422, body: { code: 'token_not_found' } });
    expect(await charge(token, { amount: 100 })).toMatchObject({ status: 201 });
    await stack.db.query(`update payment_tokens set status = 'deactivated', deactivated_at = now() where id = $1`, [token]);
    expect(await charge(token)).toMatchObject({ status: 422, body: { code: 'token_inactive' } });
  });
});

describe('an authorisation', () => {
  const authorize = async (amount = 5000): Promise<Json> => {
    const answer = await charge(await saveCard('4242424242424242'), { amount, capture: false });
    expect(answer).toMatchObject({ status: 201, body: { status: 'authorized', amount_captured: 0 } });
    return answer.body;
  };

  it('is captured once, in part, and announces the captured amount', async () => {
    const { id } = await authorize();
    expect(await merchant.api.post(`/payments/${id}/capture`, { amount: 5001 })).toMatchObject({ status: 422, body: { code: 'capture_exceeds_authorized' } });
    expect(await merchant.api.post(`/payments/${id}/capture`, { amount: 4000 })).toMatchObject({ status: 200, body: { status: 'captured', amount_captured: 4000, amount_refundable: 4000 } });
    expect(await merchant.api.post(`/payments/${id}/capture`)).toMatchObject({ status: 409, body: { code: 'payment_not_capturable', current_status: 'captured' } });
    const events = await eventsOf(id);
    expect(events.map((event) => event.type)).toEqual(['payment.authorized', 'payment.completed']);
    expect(events[1]?.data['amount']).toBe(4000);
  });

  it('is voided, and voided again with the same answer', async () => {
    const { id } = await authorize();
    const first = await merchant.api.post(`/payments/${id}/void`, { reason: 'out of stock' });
    expect(first).toMatchObject({ status: 200, body: { status: 'voided' } });
    expect((await merchant.api.post(`/payments/${id}/void`)).body).toEqual(first.body);
    const events = await eventsOf(id);
    expect(events.map((event) => event.type)).toEqual(['payment.authorized', 'payment.voided']);
    expect(events[1]?.data['void']).toMatchObject({ reason: 'out of stock' });
  });

  it('is either captured or voided when both are asked for at once', async () => {
    for (let i = 0; i < 5; i++) {
      const { id } = await authorize();
      const [captured, voided] = await Promise.all([merchant.api.post(`/payments/${id}/capture`), merchant.api.post(`/payments/${id}/void`)]);
      expect([captured.status, voided.status].toSorted()).toEqual([200, 409]);
      const { status } = await read(id);
      expect(status).toBe(captured.status === 200 ? 'captured' : 'voided');
    }
  });

  it('lapses after seven days uncaptured', async () => {
    const { id } = await authorize();
    await stack.db.query(`update transactions set due_at = now() - interval '1 minute' where id = $1`, [id]);
    await eventually(async () => {
      await stack.service.sweep();
      expect((await read(id)).status).toBe('expired');
    });
    const events = await eventsOf(id);
    expect(events.at(-1)).toMatchObject({ type: 'payment.voided', data: { void: { reason: 'authorization_expired' } } });
    expect(await ledger(id)).toContainEqual(expect.objectContaining({ type: 'void', status: 'succeeded' }));
  });

  it('of a hosted payment completes the session and is captured later', async () => {
    const { body } = await merchant.api.post<Json & { session_id: string; checkout_url: string }>('/payments', { amount: 900, currency: 'USD', capture: false, order_id: 'o-2', ...urls });
    expect(body).toMatchObject({ status: 'pending', session_id: expect.stringMatching(/^cs_/) });
    await payOnPage(body.checkout_url, '4242424242424242');
    expect(await read(body.id)).toMatchObject({ status: 'authorized', order_id: 'o-2', session_id: body.session_id });
    expect((await merchant.api.get<Json>(`/checkout-sessions/${body.session_id}`)).body.status).toBe('completed');
    expect(await merchant.api.post(`/payments/${body.id}/capture`)).toMatchObject({ status: 200, body: { status: 'captured' } });
    expect((await eventsOf(body.id)).map((event) => event.type)).toEqual(['payment.created', 'payment.authorized', 'payment.completed']);
  });

  it('whose capture lost its answer is processing until it is looked up', async () => {
    const token = await saveCard('4242424242424242', 'simulator_b');
    const { body } = await charge(token, { capture: false });
    await control({ slug: 'simulator_b', behaviour: 'lost', only: ['capture'], times: 1 });
    expect(await merchant.api.post(`/payments/${body.id}/capture`)).toMatchObject({ status: 202, body: { status: 'processing', pending_operation: 'capture' } });
    expect(await merchant.api.post(`/payments/${body.id}/void`)).toMatchObject({ status: 409, body: { code: 'payment_outcome_pending' } });
    await eventually(async () => expect(await read(body.id)).toMatchObject({ status: 'captured', pending_operation: null }), { withinMs: 40_000, everyMs: 1_000 });
    expect((await ledger(body.id)).filter((row) => row.type === 'capture' && row.status === 'succeeded')).toHaveLength(1);
  });
});

describe('a refund', () => {
  it('in two parts ends with everything refunded and says each part twice', async () => {
    const { body } = await charge(await saveCard('4242424242424242'), { order_id: 'o-3' });
    expect(await merchant.api.post(`/payments/${body.id}/refund`, { amount: 400, reason: 'damaged' })).toMatchObject({
      status: 201,
      body: { status: 'succeeded', type: 'partial', amount: 400, amount_refunded_total: 400, amount_refundable: 600, reason: 'damaged' },
    });
    expect(await merchant.api.post(`/payments/${body.id}/refund`, { amount: 601 })).toMatchObject({ status: 422, body: { code: 'refund_exceeds_remaining' } });
    expect(await merchant.api.post(`/payments/${body.id}/refund`)).toMatchObject({ status: 201, body: { amount: 600, type: 'partial' } });
    expect(await merchant.api.post(`/payments/${body.id}/refund`)).toMatchObject({ status: 409, body: { code: 'payment_not_refundable', current_status: 'refunded' } });
    const events = await eventsOf(body.id);
    expect(events.map((event) => event.type)).toEqual(['payment.completed', 'payment.partially_refunded', 'payment.refunded', 'payment.partially_refunded', 'payment.refunded']);
    expect(events[1]?.data).toMatchObject({ order_id: 'o-3', amount: 1000, amount_refunded: 400, refund: { amount: 400, type: 'partial', status: 'succeeded' } });
    const record = await read(body.id);
    expect(record).toMatchObject({ status: 'refunded', amount_refunded: 1000, amount_refundable: 0 });
    expect(record['refunds']).toHaveLength(2);
  });

  it('of the whole amount is announced once', async () => {
    const { body } = await charge(await saveCard('4242424242424242'));
    expect(await merchant.api.post(`/payments/${body.id}/refund`)).toMatchObject({ status: 201, body: { type: 'full', status: 'succeeded' } });
    expect((await eventsOf(body.id)).map((event) => event.type)).toEqual(['payment.completed', 'payment.refunded']);
  });

  it('of 30% asked for fifty times at once succeeds three times at most', async () => {
    const { body } = await charge(await saveCard('4242424242424242'));
    const answers = await Promise.all(Array.from({ length: 50 }, () => merchant.api.post<Json>(`/payments/${body.id}/refund`, { amount: 300 })));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(3);
    expect(answers.every((answer) => [201, 422, 429].includes(answer.status))).toBe(true);
    expect((await read(body.id))['amount_refunded']).toBe(900);
    expect((await ledger(body.id)).filter((row) => row.type === 'refund' && row.status === 'succeeded')).toHaveLength(3);
  });

  it('that the gateway works on is pending, holds its amount and is told of when it has succeeded', async () => {
    const { body } = await charge(await saveCard('4000000000007726'));
    const answer = await merchant.api.post<Json>(`/payments/${body.id}/refund`, { amount: 400 });
    expect(answer).toMatchObject({ status: 201, body: { status: 'pending', amount_refundable: 600, amount_refunded_total: 0 } });
    await eventually(async () => expect((await merchant.api.get<Json>(`/refunds/${answer.body.id}`)).body).toMatchObject({ status: 'succeeded', amount_refunded_total: 400 }), { withinMs: 30_000, everyMs: 1_000 });
  });

  it('that the gateway fails later gives its amount back and is told of', async () => {
    const { body } = await charge(await saveCard('4000000000005126'));
    const answer = await merchant.api.post<Json>(`/payments/${body.id}/refund`);
    expect(answer.body).toMatchObject({ status: 'pending', amount_refundable: 0 });
    await eventually(async () => expect((await merchant.api.get<Json>(`/refunds/${answer.body.id}`)).body).toMatchObject({ status: 'failed', amount_refundable: 1000 }), { withinMs: 30_000, everyMs: 1_000 });
    expect((await eventsOf(body.id)).map((event) => event.type)).toEqual(['payment.completed', 'payment.refund_failed']);
    expect((await read(body.id)).status).toBe('captured');
  });

  it('whose answer was lost is answered pending and settled by a look-up, once', async () => {
    const { body } = await charge(await saveCard('4242424242424242', 'simulator_b'));
    await control({ slug: 'simulator_b', behaviour: 'lost', only: ['refund'], times: 1 });
    const answer = await merchant.api.post<Json>(`/payments/${body.id}/refund`);
    expect(answer).toMatchObject({ status: 201, body: { status: 'pending' } });
    expect((await read(body.id)).status).toBe('captured');
    await eventually(async () => expect((await merchant.api.get<Json>(`/refunds/${answer.body.id}`)).body.status).toBe('succeeded'), { withinMs: 40_000, everyMs: 1_000 });
    expect((await ledger(body.id)).filter((row) => row.type === 'refund' && row.status === 'succeeded')).toHaveLength(1);
  });

  it('of another merchant or mode is not there', async () => {
    const { body } = await charge(await saveCard('4242424242424242'));
    const stranger = await stack.addMerchant();
    for (const [path, key] of [['refund', stranger.testKey], ['refund', merchant.liveKey], ['capture', stranger.testKey], ['void', merchant.liveKey]] as const) {
      expect(await merchant.api.post(`/payments/${body.id}/${path}`, {}, { key })).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });
});
