// Card setups over the whole stack: the page, the gateway's vault, the token, and the workflow that ends what nobody used.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { request } from 'undici';
import { eventually } from '../support/eventually.ts';
import { cancelOnPage, formTokenOf, openPage, saveOnPage } from '../support/hosted-page.ts';
import { type Stack, startStack, type TestMerchant } from '../support/stack.ts';

interface Setup {
  readonly id: string;
  readonly status: string;
  readonly customer_id: string;
  readonly token_id: string | null;
  readonly completed_at: string | null;
}

let stack: Stack;
/** A new one for each test, so that none meets another's rate limit. */
let merchant: TestMerchant;
let customerId: string;
beforeAll(async () => {
  stack = await startStack();
});
beforeEach(async () => {
  merchant = await stack.addMerchant();
  customerId = (await merchant.api.post<{ id: string }>('/customers', { name: 'Ada' })).body.id;
});
afterAll(() => stack.stop());

const urls = { success_url: 'https://shop.example/saved?from=account', failure_url: 'https://shop.example/failed', cancel_url: 'https://shop.example/account' };

async function createSetup(fields: object = {}): Promise<{ id: string; setup_url: string }> {
  const answer = await merchant.api.post<{ id: string; setup_url: string }>(`/customers/${customerId}/card-setup-sessions`, { ...urls, ...fields });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}
const readSetup = async (id: string): Promise<Setup> => (await merchant.api.get<Setup>(`/card-setup-sessions/${id}`)).body;
const tokens = async (): Promise<{ id: string }[]> => (await merchant.api.get<{ data: { id: string }[] }>(`/customers/${customerId}/payment-tokens`)).body.data;
const workflowStatus = async (id: string): Promise<string> => (await stack.service.client.workflow.getHandle(id).describe()).status.name;
const savedAt = (id: string): string => `https://shop.example/saved?from=account&session_id=${id}`;
const rowOf = async (id: string): Promise<{ status: string; rejected_cards: number }> => (await stack.db.query<{ status: string; rejected_cards: number }>('select status, rejected_cards from card_setup_sessions where id = $1', [id]))[0]!;
async function switchGateway(behaviour: 'ok' | 'down'): Promise<void> {
  const answer = await request(`${stack.simulator.url}/control`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.simulator.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ slug: 'simulator', behaviour }),
  });
  expect(answer.statusCode).toBe(200);
  await answer.body.dump();
}

describe('a card setup whose card is saved', () => {
  it('completes with a token that can be charged, and has charged nothing itself', async () => {
    const { id, setup_url: url } = await createSetup();
    expect(await saveOnPage(url, '4242 4242 4242 4242')).toMatchObject({ status: 303, location: savedAt(id) });
    const setup = await readSetup(id);
    expect(setup).toMatchObject({ status: 'completed', customer_id: customerId, token_id: expect.stringMatching(/^pt_/), completed_at: expect.any(String) });
    expect(await tokens()).toMatchObject([{ id: setup.token_id, last4: '4242', customer_id: customerId }]);
    expect((await merchant.api.get('/transactions')).body).toMatchObject({ meta: { total: 0 } });
    expect(await stack.db.query('select id from events where merchant_id = $1', [merchant.merchantId])).toEqual([]);
    const charged = await merchant.api.post('/charge-token', { token_id: setup.token_id, amount: 700, currency: 'USD' });
    expect([charged.status, charged.body], charged.text).toMatchObject([201, { status: 'captured' }]);
    expect(stack.logs.join('')).not.toMatch(/4242 ?4242 ?4242/);
  });

  it('shows what became of it when the page is opened or the form sent again', async () => {
    const { id, setup_url: url } = await createSetup();
    const form_token = await formTokenOf(url);
    await saveOnPage(url, '4242424242424242');
    const page = await openPage(url);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Card saved')]);
    expect(await saveOnPage(url, '5555555555554444', { form_token })).toMatchObject({ status: 303, location: new URL(url).pathname });
    expect(await cancelOnPage(url)).toMatchObject({ status: 403 });
    expect((await readSetup(id)).status).toBe('completed');
    expect(await tokens()).toHaveLength(1);
  });

  it('finds the token there is when the customer has the card already', async () => {
    const first = await createSetup();
    await saveOnPage(first.setup_url, '4242424242424242');
    const second = await createSetup();
    await saveOnPage(second.setup_url, '4242424242424242');
    expect((await readSetup(second.id)).token_id).toBe((await readSetup(first.id)).token_id);
    expect(await tokens()).toHaveLength(1);
  });

  it('makes one token of thirty forms sent together, whatever cards they bring', async () => {
    const { id, setup_url: url } = await createSetup();
    const form_token = await formTokenOf(url);
    const cards = ['4242424242424242', '5555555555554444', '378282246310005'];
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => saveOnPage(url, cards[i % cards.length]!, { form_token })));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([303]));
    expect(answers.some((answer) => answer.location === savedAt(id))).toBe(true);
    expect(await tokens()).toMatchObject([{ id: (await readSetup(id)).token_id }]);
  });
});

describe('a card setup whose card is not saved', () => {
  it('stays open after mistakes of the customer, which reach no gateway', async () => {
    const { id, setup_url: url } = await createSetup();
    const answer = await saveOnPage(url, '4242424242424241');
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('This card number has a mistake in it.')]);
    expect(answer.text).not.toContain('4242424242424241');
    expect(await rowOf(id)).toEqual({ status: 'open', rejected_cards: 0 });
  });

  it('asks to try again while the gateway is away, then saves', async () => {
    const { id, setup_url: url } = await createSetup();
    await switchGateway('down');
    try {
      const answer = await saveOnPage(url, '4242424242424242');
      expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('Your card was not saved')]);
      expect(await readSetup(id)).toMatchObject({ status: 'open', token_id: null });
    } finally {
      await switchGateway('ok');
    }
    await eventually(async () => expect((await saveOnPage(url, '4242424242424242')).status).toBe(303), { withinMs: 30_000, everyMs: 500 });
    expect((await readSetup(id)).status).toBe('completed');
  });

  it('is cancelled by the customer, once, and saves no card afterwards', async () => {
    const { id, setup_url: url } = await createSetup();
    const form_token = await formTokenOf(url);
    expect(await cancelOnPage(url)).toMatchObject({ status: 303, location: `https://shop.example/account?session_id=${id}` });
    expect(await readSetup(id)).toMatchObject({ status: 'cancelled', token_id: null, completed_at: null });
    await saveOnPage(url, '4242424242424242', { form_token });
    expect((await readSetup(id)).status).toBe('cancelled');
    expect(await tokens()).toEqual([]);
  });

  it('saves nothing past its end, although nothing has moved it yet', async () => {
    const { id, setup_url: url } = await createSetup();
    const form_token = await formTokenOf(url);
    await stack.db.query(`update card_setup_sessions set expires_at = now() where id = $1`, [id]);
    expect(await saveOnPage(url, '4242424242424242', { form_token })).toMatchObject({ status: 303, location: new URL(url).pathname });
    expect((await openPage(url)).text).toContain('This page has expired');
    expect(await tokens()).toEqual([]);
  });
});

describe('the workflow of a card setup', () => {
  it('is asleep from the start and expires a setup nobody used', async () => {
    const { id } = await createSetup();
    expect(await workflowStatus(id)).toBe('RUNNING');
    // The sweep looks after what its workflow has not moved; a workflow that is asleep is woken by ending it here.
    await stack.service.client.workflow.getHandle(id).terminate('lost');
    await stack.db.query(`update card_setup_sessions set expires_at = now() - interval '21 seconds' where id = $1`, [id]);
    await stack.service.sweep();
    await eventually(async () => expect((await rowOf(id)).status).toBe('expired'), { withinMs: 20_000 });
    await eventually(async () => expect(await workflowStatus(id)).toBe('COMPLETED'), { withinMs: 20_000 });
  });

  it('is started by the sweep when it was not at creation', async () => {
    const { id } = await createSetup();
    await stack.service.client.workflow.getHandle(id).terminate('lost');
    await eventually(async () => expect((await stack.db.query(`select id from card_setup_sessions where id = $1 and workflow_started_at is not null`, [id])).length).toBe(1));
    await stack.db.query(`update card_setup_sessions set workflow_started_at = null, created_at = now() - interval '6 seconds' where id = $1`, [id]);
    await stack.service.sweep();
    expect(await workflowStatus(id)).toBe('RUNNING');
    expect((await readSetup(id)).status).toBe('open');
  });

  it('waits on when Postgres says that the end has not come', async () => {
    const { id } = await createSetup();
    const handle = stack.service.client.workflow.getHandle(id);
    await handle.terminate('lost');
    const soon = Date.now() + 3_000;
    await stack.db.query(`update card_setup_sessions set expires_at = to_timestamp($2::double precision / 1000) where id = $1`, [id, soon]);
    await stack.service.client.workflow.start('cardSetup', { workflowId: id, taskQueue: 'payments', args: [{ setupId: id, expiresAtMs: Date.now() }] });
    expect(await handle.result()).toBe('expired');
    expect(Date.now()).toBeGreaterThanOrEqual(soon);
    expect((await readSetup(id)).status).toBe('expired');
  });

  it('ends without doing anything when the card was saved meanwhile', async () => {
    const { id, setup_url: url } = await createSetup();
    await saveOnPage(url, '4242424242424242');
    const handle = stack.service.client.workflow.getHandle(id);
    await handle.terminate('lost');
    await stack.service.client.workflow.start('cardSetup', { workflowId: id, taskQueue: 'payments', args: [{ setupId: id, expiresAtMs: Date.now() }] });
    expect(await handle.result()).toBe('completed');
  });
});

it('an address with another mac, or with the mac of a checkout, is a plain 404', async () => {
  const { setup_url: url } = await createSetup();
  const checkout = await merchant.api.post<{ checkout_url: string }>('/checkout-sessions', { amount: 100, currency: 'USD', ...urls });
  const [, mac] = checkout.body.checkout_url.split(/\.(?=[^/]+$)/);
  const token = new URL(url).pathname.slice('/setup/'.length);
  for (const address of [`${url}x`, `${url.slice(0, url.indexOf('css_') + 30)}.${mac}`, url.replace('/setup/', '/checkout/'), `${stack.url}/setup/${new URL(checkout.body.checkout_url).pathname.slice('/checkout/'.length)}`, `${stack.url}/setup/${token}/save`]) {
    expect((await openPage(address)).status, address).toBe(404);
  }
});
