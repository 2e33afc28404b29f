// The session workflow over the whole stack: every way a session can end, and what brings it there.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { request } from 'undici';
import { cancelOnPage, formTokenOf, openPage, payOnPage } from '../support/hosted-page.ts';
import { eventually } from '../support/eventually.ts';
import { finishChallenge } from '../contract/simulator-harness.ts';
import { type Stack, startStack, type TestMerchant } from '../support/stack.ts';

interface Session {
  readonly id: string;
  readonly checkout_url: string;
  readonly status: string;
  readonly completed_at: string | null;
  readonly transaction: { readonly id: string; readonly status: string; readonly token_id: string | null; readonly card_last4: string } | null;
}

let stack: Stack;
/** A new one for each test, so that none meets another's rate limit. */
let merchant: TestMerchant;
beforeEach(async () => {
  merchant = await stack.addMerchant();
});
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

const urls = { success_url: 'https://shop.example/paid?order=7', failure_url: 'https://shop.example/failed', cancel_url: 'https://shop.example/basket' };

async function createSession(fields: object = {}): Promise<Session> {
  const answer = await merchant.api.post<Session>('/checkout-sessions', { amount: 2500, currency: 'USD', ...urls, ...fields });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}
const readSession = async (id: string): Promise<Session> => (await merchant.api.get<Session>(`/checkout-sessions/${id}`)).body;
const becomes = (id: string, status: string, withinMs = 30_000): Promise<Session> =>
  eventually(
    async () => {
      const session = await readSession(id);
      expect(session.status).toBe(status);
      return session;
    },
    { withinMs, everyMs: 500 },
  );
async function ledger(sessionId: string): Promise<{ type: string; status: string; amount: number }[]> {
  const [row] = await stack.db.query<{ transaction_id: string }>('select transaction_id from checkout_sessions where id = $1', [sessionId]);
  const answer = await request(`${stack.simulator.url}/ledger?reference=${row?.transaction_id}`, { headers: { authorization: `Bearer ${stack.simulator.secret}` } });
  return ((await answer.body.json()) as { data: { type: string; status: string; amount: number }[] }).data;
}
const eventsOf = async (sessionId: string): Promise<string[]> => {
  const rows = await stack.db.query<{ type: string }>(
    `select e.type from events e join checkout_sessions s on e.resource_id in (s.id, s.transaction_id) where s.id = $1 order by e.inserted_at, e.type desc`,
    [sessionId],
  );
  return rows.map((row) => row.type);
};

describe('a session that is paid', () => {
  it('completes, redirects with the session id added and saves the card', async () => {
    const session = await createSession({ customer: { name: 'Ada', email: 'ada@example.com' } });
    const answer = await payOnPage(session.checkout_url, '4242 4242 4242 4242');
    expect(answer).toMatchObject({ status: 303, location: `https://shop.example/paid?order=7&session_id=${session.id}` });
    const paid = await readSession(session.id);
    expect(paid).toMatchObject({ status: 'completed', transaction: { status: 'captured', card_last4: '4242', token_id: expect.stringMatching(/^pt_/) } });
    expect(paid.completed_at).not.toBeNull();
    expect(await eventsOf(session.id)).toEqual(['payment.created', 'payment.completed', 'checkout_session.completed']);
    expect(await ledger(session.id)).toMatchObject([{ type: 'charge', status: 'captured', amount: 2500 }]);
  });

  it('saves no card when the merchant does not want it', async () => {
    const session = await createSession({ save_payment_method: false });
    await payOnPage(session.checkout_url, '4242424242424242');
    expect((await readSession(session.id)).transaction).toMatchObject({ status: 'captured', token_id: null });
  });

  it('gives the same customer and the same card the same token', async () => {
    const customer = { external_customer_id: 'store-user-1', name: 'Ada' };
    const tokens: (string | null | undefined)[] = [];
    for (let i = 0; i < 2; i++) {
      const session = await createSession({ customer });
      await payOnPage(session.checkout_url, '5555555555554444');
      tokens.push((await readSession(session.id)).transaction?.token_id);
    }
    expect(tokens[0]).toMatch(/^pt_/);
    expect(tokens[1]).toBe(tokens[0]);
    const [count] = await stack.db.query<{ n: number }>(`select count(*)::int as n from customers where external_customer_id = 'store-user-1'`);
    expect(count?.n).toBe(1);
  });

  it('is charged once by fifty customers who press the button together', async () => {
    const session = await createSession();
    const form_token = await formTokenOf(session.checkout_url);
    const answers = await Promise.all(Array.from({ length: 50 }, () => payOnPage(session.checkout_url, '4242424242424242', { form_token })));
    expect(answers.every((answer) => answer.status === 303), JSON.stringify(answers.find((answer) => answer.status !== 303))).toBe(true);
    expect((await ledger(session.id)).filter((row) => row.status === 'captured')).toHaveLength(1);
    expect((await readSession(session.id)).status).toBe('completed');
  });
});

describe('a session whose payment is declined', () => {
  it('fails, leads to the failure address and stays failed', async () => {
    const session = await createSession();
    expect(await payOnPage(session.checkout_url, '4000000000009995')).toMatchObject({ status: 303, location: `https://shop.example/failed?session_id=${session.id}` });
    expect(await readSession(session.id)).toMatchObject({ status: 'failed', transaction: { status: 'failed' } });
    expect(await eventsOf(session.id)).toEqual(['payment.created', 'payment.failed']);
    await payOnPage(session.checkout_url, '4242424242424242');
    expect((await readSession(session.id)).status).toBe('failed');
    expect((await ledger(session.id)).some((row) => row.status === 'captured')).toBe(false);
  });
});

describe('a session with 3DS', () => {
  it('completes when the customer authenticates and comes back', async () => {
    const session = await createSession();
    const { location } = await payOnPage(session.checkout_url, '4000000000003220');
    expect(await readSession(session.id)).toMatchObject({ status: 'open', transaction: { status: 'requires_action' } });
    const back = await openPage(await finishChallenge(String(location), 'complete'));
    expect(back).toMatchObject({ status: 303, location: `https://shop.example/paid?order=7&session_id=${session.id}` });
    expect((await readSession(session.id)).status).toBe('completed');
  });

  it('fails when the authentication fails', async () => {
    const session = await createSession();
    const { location } = await payOnPage(session.checkout_url, '4000000000003220');
    const back = await openPage(await finishChallenge(String(location), 'fail'));
    expect(back).toMatchObject({ status: 303, location: `https://shop.example/failed?session_id=${session.id}` });
    expect((await readSession(session.id)).status).toBe('failed');
  });

  it('can be neither cancelled nor expired while the customer is at the bank', async () => {
    const session = await createSession();
    await payOnPage(session.checkout_url, '4000000000003220');
    const expired = await merchant.api.post(`/checkout-sessions/${session.id}/expire`);
    expect(expired).toMatchObject({ status: 409, body: { code: 'session_not_open', current_status: 'open' } });
    expect((await cancelOnPage(session.checkout_url)).status).toBe(409);
    expect((await readSession(session.id)).status).toBe('open');
  });

  it('expires when the customer never comes back, also after its workflow was lost', async () => {
    const session = await createSession();
    await payOnPage(session.checkout_url, '4000000000003220');
    await stack.db.query(`update checkout_sessions set expires_at = now() - interval '16 minutes', due_at = now() - interval '1 minute' where id = $1`, [session.id]);
    expect((await readSession(session.id)).status).toBe('open');
    await stack.service.client.workflow.getHandle(session.id).terminate('a test loses it');
    await eventually(async () => {
      await stack.service.sweep();
      expect((await readSession(session.id)).status).toBe('expired');
    });
    expect(await ledger(session.id)).toMatchObject([{ type: 'charge', status: 'cancelled' }]);
    expect(await eventsOf(session.id)).toEqual(['payment.created', 'checkout_session.expired']);
  });

  it('completes at the cut-off when the customer had authenticated but never came back', async () => {
    const session = await createSession();
    const { location } = await payOnPage(session.checkout_url, '4000000000003220');
    await finishChallenge(String(location), 'complete');
    await stack.db.query(`update checkout_sessions set expires_at = now() - interval '16 minutes', due_at = now() - interval '1 minute' where id = $1`, [session.id]);
    await stack.service.client.workflow.getHandle(session.id).terminate('a test loses it');
    await eventually(async () => {
      await stack.service.sweep();
      expect((await readSession(session.id)).status).toBe('completed');
    });
  });
});

describe('a session whose gateway answer is lost', () => {
  it('is completed by a look-up and charged once', async () => {
    const session = await createSession();
    const answer = await payOnPage(session.checkout_url, '4000000000000259');
    expect(answer).toMatchObject({ status: 303, location: expect.stringContaining('/checkout/') });
    expect(await readSession(session.id)).toMatchObject({ status: 'open', transaction: { status: 'processing' } });
    expect((await merchant.api.post(`/checkout-sessions/${session.id}/expire`)).status).toBe(409);
    await becomes(session.id, 'completed');
    expect((await ledger(session.id)).filter((row) => row.status === 'captured')).toHaveLength(1);
  });

  it('stays open, says nothing and can be paid later when the gateway was surely not reached', async () => {
    const session = await createSession({ gateway: 'simulator_b' });
    await control({ slug: 'simulator_b', behaviour: 'down' });
    const answer = await payOnPage(session.checkout_url, '4242424242424242');
    await control({ slug: 'simulator_b', behaviour: 'ok' });
    expect(answer.text + String(answer.location)).toMatch(/try again|checkout/i);
    expect(await readSession(session.id)).toMatchObject({ status: 'open', transaction: null });
    expect(await eventsOf(session.id)).toEqual(['payment.created']);
    await payOnPage(session.checkout_url, '4242424242424242');
    expect((await readSession(session.id)).status).toBe('completed');
  });

  it('is never settled as captured with another amount than asked, and raises an alert', async () => {
    const session = await createSession({ gateway: 'simulator_b' });
    await control({ slug: 'simulator_b', behaviour: 'wrong_amount', only: ['charge'], times: 1 });
    await payOnPage(session.checkout_url, '4242424242424242');
    expect(await readSession(session.id)).toMatchObject({ status: 'open', transaction: { status: 'processing' } });
    expect(stack.logs.some((line) => line.includes('gateway_amount_mismatch'))).toBe(true);
  });
});

describe('a session nobody pays', () => {
  it('expires by itself, to the moment for readers', async () => {
    const session = await createSession();
    await stack.db.query(`update checkout_sessions set expires_at = now(), due_at = now() - interval '1 minute' where id = $1`, [session.id]);
    expect((await readSession(session.id)).status).toBe('expired');
    await stack.service.client.workflow.getHandle(session.id).terminate('a test loses it');
    await eventually(async () => {
      await stack.service.sweep();
      expect(await eventsOf(session.id)).toEqual(['payment.created', 'checkout_session.expired']);
    });
    expect((await payOnPage(session.checkout_url, '4242424242424242')).status).not.toBe(500);
    expect(await ledger(session.id)).toEqual([]);
  });

  it('is expired by its merchant, once', async () => {
    const session = await createSession();
    expect((await merchant.api.post<Session>(`/checkout-sessions/${session.id}/expire`)).body.status).toBe('expired');
    expect(await merchant.api.post(`/checkout-sessions/${session.id}/expire`)).toMatchObject({ status: 409, body: { code: 'session_not_open', current_status: 'expired' } });
    expect(await eventsOf(session.id)).toEqual(['payment.created', 'checkout_session.expired']);
  });

  it('is cancelled by the customer, who is led to the cancel address', async () => {
    const session = await createSession();
    expect(await cancelOnPage(session.checkout_url)).toMatchObject({ status: 303, location: `https://shop.example/basket?session_id=${session.id}` });
    expect((await readSession(session.id)).status).toBe('cancelled');
    expect(await eventsOf(session.id)).toEqual(['payment.created', 'checkout.cancelled']);
  });

  it('is either cancelled or paid when both are asked for at once', async () => {
    for (let i = 0; i < 5; i++) {
      const session = await createSession();
      await Promise.all([payOnPage(session.checkout_url, '4242424242424242'), cancelOnPage(session.checkout_url)]);
      const { status } = await readSession(session.id);
      const captured = (await ledger(session.id)).filter((row) => row.status === 'captured').length;
      expect([['completed', 1], ['cancelled', 0]]).toContainEqual([status, captured]);
    }
  });
});

describe('a session whose workflow is not there', () => {
  it('is paid all the same: the payment starts it', async () => {
    const session = await createSession();
    await stack.service.client.workflow.getHandle(session.id).terminate('a test loses it');
    const answer = await payOnPage(session.checkout_url, '4242424242424242');
    expect(answer.location).toBe(`https://shop.example/paid?order=7&session_id=${session.id}`);
  });

  it('gets one from the sweep when its start had failed', async () => {
    const session = await createSession();
    // The mark of the start that succeeded is written in a batch; it must not come after the test has taken it away.
    await eventually(async () => {
      const [row] = await stack.db.query<{ started: boolean }>('select workflow_started_at is not null as started from checkout_sessions where id = $1', [session.id]);
      expect(row?.started).toBe(true);
    });
    await stack.service.client.workflow.getHandle(session.id).terminate('a test loses it');
    await stack.db.query(`update checkout_sessions set workflow_started_at = null, created_at = now() - interval '1 minute' where id = $1`, [session.id]);
    await stack.service.sweep();
    const description = await stack.service.client.workflow.getHandle(session.id).describe();
    expect(description.status.name).toBe('RUNNING');
  });
});

describe('what an operator sees', () => {
  it('shows amount, mode, merchant and status of a session, and no personal data', async () => {
    const session = await createSession({ customer: { name: 'Grace Hopper', email: 'grace@example.com' } });
    await payOnPage(session.checkout_url, '4242424242424242');
    const handle = stack.service.client.workflow.getHandle(session.id);
    const description = await eventually(async () => {
      const found = await handle.describe();
      expect(found.status.name).toBe('COMPLETED');
      return found;
    });
    expect(await description.staticSummary()).toMatch(/^25\.00 USD, test, /);
    expect(description.searchAttributes).toMatchObject({ MerchantId: [merchant.merchantId], Mode: ['test'], PaymentStatus: ['completed'] });
    const history = JSON.stringify(await handle.fetchHistory());
    expect(history).not.toMatch(/4242424242424242|Grace|grace@example|simcard_/);
    for (const word of ['Grace', 'grace@example.com']) expect(history).not.toContain(Buffer.from(word).toString('base64').replace(/=+$/, ''));
  });
});

async function control(body: object): Promise<void> {
  const answer = await request(`${stack.simulator.url}/control`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${stack.simulator.secret}` },
    body: JSON.stringify(body),
  });
  expect(answer.statusCode).toBe(200);
  await answer.body.dump();
}
