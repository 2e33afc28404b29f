// What gateways report, on the whole product: a customer who authenticated and closed the tab is settled at once; a forged,
// stale, repeated or foreign notification changes nothing.
import { createHmac, randomUUID } from 'node:crypto';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { knownGateway } from '../../gateways/catalogue.ts';
import { connectGateway } from '../../operations/connect-gateway.ts';
import { eventually } from '../support/eventually.ts';
import { payOnPage } from '../support/hosted-page.ts';
import { startStack, type Stack } from '../support/stack.ts';

const challengeCard = '4000000000003220';
const body = { amount: 2500, currency: 'USD', success_url: 'https://shop.example/ok', failure_url: 'https://shop.example/no' };

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

interface Told {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function tell(rawBody: string, options: { gateway?: string; secret?: string; ageSeconds?: number; signature?: string } = {}): Promise<Told> {
  const timestamp = Math.floor(Date.now() / 1000) - (options.ageSeconds ?? 0);
  const mac = createHmac('sha256', options.secret ?? stack.simulator.secret).update(`${timestamp}.${rawBody}`).digest('hex');
  const answer = await request(`${stack.url}/gateway-notifications/${options.gateway ?? 'simulator'}`, {
    method: 'POST',
    body: rawBody,
    headers: { 'content-type': 'application/json', 'x-simulator-signature': options.signature ?? `t=${timestamp},v1=${mac}` },
  });
  return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
}

const notification = (fields: object = {}): string => JSON.stringify({ id: `sim_ntf_${randomUUID()}`, type: 'charge.updated', reference: 'txn_nobody', key: 'txn_nobody:charge:1', ...fields });
const lookUps = (transactionId: string) => stack.db.query<{ kind: string }>(`select kind from gateway_calls where transaction_id = $1 and kind = 'lookup'`, [transactionId]);

/** A session whose customer is at the bank. */
async function atTheBank(): Promise<{ id: string; actionUrl: string; transactionId: string; key: string }> {
  const created = await stack.api.post<{ id: string; checkout_url: string }>('/checkout-sessions', body);
  const paid = await payOnPage(created.body.checkout_url, challengeCard);
  const [attempt] = await stack.db.query<{ transaction_id: string; gateway_key: string }>('select transaction_id, gateway_key from payment_attempts where session_id = $1', [created.body.id]);
  return { id: created.body.id, actionUrl: paid.location ?? '', transactionId: attempt?.transaction_id ?? '', key: attempt?.gateway_key ?? '' };
}

/** At the bank's own page; the way back to the shop is not followed: the tab is closed. */
async function decide(actionUrl: string, decision: 'complete' | 'fail'): Promise<void> {
  const answer = await request(actionUrl, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: `decision=${decision}` });
  await answer.body.dump();
  expect(answer.statusCode).toBe(303);
}

describe('a customer who never comes back from the bank', () => {
  it('has paid as soon as the gateway reports it', async () => {
    const session = await atTheBank();
    await decide(session.actionUrl, 'complete');
    await eventually(async () => expect((await stack.api.get(`/checkout-sessions/${session.id}`)).body).toMatchObject({ status: 'completed' }));
  });

  it('has failed as soon as the gateway reports it', async () => {
    const session = await atTheBank();
    await decide(session.actionUrl, 'fail');
    await eventually(async () => expect((await stack.api.get(`/checkout-sessions/${session.id}`)).body).toMatchObject({ status: 'failed' }));
  });
});

describe('a refund that the gateway ends later', () => {
  it.each([
    ['4000000000007726', 'succeeded', 'refunded'],
    ['4000000000005126', 'failed', 'captured'],
  ])('of the card %s has %s as soon as it is reported', async (number, refundStatus, paymentStatus) => {
    const token = await stack.api.post('/tokenize', { card: { number, expiry_month: 12, expiry_year: 2040, cvc: '123' } });
    const payment = await stack.api.post('/charge-token', { token_id: token.body['id'], amount: 2500, currency: 'USD' });
    expect(payment).toMatchObject({ status: 201, body: { status: 'captured' } });
    const refund = await stack.api.post(`/payments/${String(payment.body['id'])}/refund`, {});
    expect(refund).toMatchObject({ status: 201, body: { status: 'pending' } });
    // The simulator ends it after ten seconds; without the report it would be the daily poll that finds out.
    await eventually(async () => expect((await stack.api.get(`/refunds/${String(refund.body['id'])}`)).body).toMatchObject({ status: refundStatus }), { withinMs: 25_000, everyMs: 200 });
    expect((await stack.api.get(`/payments/${String(payment.body['id'])}`)).body).toMatchObject({ status: paymentStatus });
  });
});

describe('what a notification says is not believed', () => {
  it('so a true-looking one before the customer decided leaves the session as it is', async () => {
    const session = await atTheBank();
    const rawBody = notification({ reference: session.transactionId, key: session.key, status: 'captured' });
    expect(await tell(rawBody)).toEqual({ status: 200, body: { received: true } });
    expect((await stack.api.get(`/checkout-sessions/${session.id}`)).body).toMatchObject({ status: 'open' });
    await eventually(async () => expect(await lookUps(session.transactionId)).toHaveLength(1));

    expect(await tell(rawBody), 'sent twice').toEqual({ status: 200, body: { received: true } });
    expect(await tell(notification({ reference: session.transactionId, key: session.key })), 'another one').toMatchObject({ status: 200 });
    await eventually(async () => expect(await lookUps(session.transactionId)).toHaveLength(2));
  });

  it('and one about another gateway’s payment looks nothing up', async () => {
    const session = await atTheBank();
    expect(await tell(notification({ reference: session.transactionId, key: session.key }), { gateway: 'simulator_b' })).toMatchObject({ status: 200 });
    expect(await stack.db.query('select 1 from gateway_notifications where gateway = $1 and handled_at is not null', ['simulator_b'])).toHaveLength(1);
    const rows = await stack.db.query<{ status: string; lookups: number }>('select status, lookups from payment_attempts where session_id = $1', [session.id]);
    expect(rows).toEqual([{ status: 'requires_action', lookups: 0 }]);
  });

  it('and one about a payment we do not know is received and forgotten', async () => {
    expect(await tell(notification())).toEqual({ status: 200, body: { received: true } });
  });
});

describe('a notification nobody vouches for', () => {
  it.each([
    ['signed with another secret', notification(), { secret: 'not-the-secret' }],
    ['ten minutes old', notification(), { ageSeconds: 600 }],
    ['without a signature', notification(), { signature: '' }],
    ['signed but not JSON', 'not json', {}],
    ['signed but of another shape', '{"id":1}', {}],
  ])('%s is refused in the usual form', async (_, rawBody, options) => {
    const told = await tell(rawBody, options);
    expect(told).toMatchObject({ status: 400, body: { code: 'malformed_request', type: 'invalid_request' } });
    expect(told.body['request_id']).toMatch(/^req_/);
  });

  it('is refused when it is too long, and at a gateway there is not', async () => {
    expect(await tell(notification({ padding: 'x'.repeat(70_000) }))).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    expect(await tell(notification(), { gateway: 'nobody' })).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await tell(notification(), { gateway: 'constructor' })).toMatchObject({ status: 404 });
  });

  it('leaves no row', async () => {
    const id = `sim_ntf_${randomUUID()}`;
    await tell(notification({ id }), { secret: 'not-the-secret' });
    expect(await stack.db.query('select 1 from gateway_notifications where notification_id = $1', [id])).toEqual([]);
  });
});

describe('a real gateway', () => {
  const secret = 'whsec_of_the_account';
  const event = (metadata: object): string => JSON.stringify({ id: `evt_${randomUUID()}`, object: 'event', type: 'payment_intent.succeeded', data: { object: { id: 'pi_1', object: 'payment_intent', metadata } } });
  const connect = async (merchantId: string) =>
    connectGateway({ ...stack.service.operations, known: knownGateway }, { merchantId, mode: 'test' }, { gateway: 'stripe', credentials: { secretKey: 'sk_test_51Anything' }, notificationSecret: secret, makeDefault: false });

  async function tellStripe(rawBody: string, options: { secret?: string; account?: string } = {}): Promise<Told> {
    const timestamp = Math.floor(Date.now() / 1000);
    const mac = createHmac('sha256', options.secret ?? secret).update(`${timestamp}.${rawBody}`).digest('hex');
    const answer = await request(`${stack.url}/gateway-notifications/stripe${options.account === undefined ? '' : `?account=${options.account}`}`, {
      method: 'POST',
      body: rawBody,
      headers: { 'content-type': 'application/json', 'stripe-signature': `t=${timestamp},v1=${mac}` },
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
  }

  it('can be used and heard only where a merchant has an account', async () => {
    const [mine, other] = await Promise.all([stack.addMerchant('With an account'), stack.addMerchant('Without one')]);
    const wanted = { ...body, gateway: 'stripe' };
    expect(await mine.api.post('/checkout-sessions', wanted)).toMatchObject({ status: 422, body: { code: 'gateway_not_found', param: 'gateway' } });
    expect(await tellStripe(event({})), 'before anybody has one').toMatchObject({ status: 400 });
    const account = await connect(mine.merchantId);
    expect(await mine.api.post('/checkout-sessions', wanted)).toMatchObject({ status: 201 });
    expect(await other.api.post('/checkout-sessions', wanted)).toMatchObject({ status: 422, body: { code: 'gateway_not_found' } });

    expect(await tellStripe(event({}))).toEqual({ status: 200, body: { received: true } });
    expect(await tellStripe(event({ reference: 'txn_nobody', key: 'txn_nobody:charge:1' }), { account: account.id })).toEqual({ status: 200, body: { received: true } });
    expect(await tellStripe(event({}), { account: 'gwa_00000000000000000000000000' }), 'another account').toMatchObject({ status: 400, body: { code: 'malformed_request' } });
    expect(await tellStripe(event({}), { secret: 'whsec_forged' })).toMatchObject({ status: 400 });
  });
});
