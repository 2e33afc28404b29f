// The demo store against a stand-in for the service's REST API: what merchants will copy has to be right by itself.
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startStore, type Store } from '../../../examples/demo-store/store.ts';
import { verifyWebhook } from '../../../examples/demo-store/verify.ts';

const secret = 'whsec_' + Buffer.alloc(32, 7).toString('base64');
const nowSeconds = (): number => Math.floor(Date.now() / 1000);
const sign = (body: string, timestamp: number, key = secret): string => createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex');

describe('verifying a webhook', () => {
  const body = '{"event":"payment.completed"}';
  const verify = (change: { body?: string; secret?: string; at?: number; headers?: Record<string, string> } = {}) => {
    const at = change.at ?? 1_800_000_000;
    return verifyWebhook({
      body: Buffer.from(change.body ?? body),
      headers: change.headers ?? { 'x-svc-timestamp': String(at), 'x-svc-signature': sign(body, at) },
      secret: change.secret ?? secret,
      nowSeconds: 1_800_000_000,
    });
  };

  it('accepts the bytes that were signed, within five minutes either way', () => {
    expect(verify()).toBe('genuine');
    expect(verify({ at: 1_800_000_000 - 300 })).toBe('genuine');
    expect(verify({ at: 1_800_000_000 + 300 })).toBe('genuine');
  });

  it('refuses a replay from outside the window, even with a right signature', () => {
    expect(verify({ at: 1_800_000_000 - 301 })).toBe('outside_window');
    expect(verify({ at: 1_800_000_000 + 301 })).toBe('outside_window');
  });

  it('refuses another body, another secret and a signature of another moment', () => {
    expect(verify({ body: `${body} ` })).toBe('wrong_signature');
    expect(verify({ secret: 'whsec_other' })).toBe('wrong_signature');
    expect(verify({ headers: { 'x-svc-timestamp': '1800000001', 'x-svc-signature': sign(body, 1_800_000_000) } })).toBe('wrong_signature');
  });

  it('refuses headers that are missing or of another form', () => {
    expect(verify({ headers: {} })).toBe('unsigned');
    expect(verify({ headers: { 'x-svc-timestamp': '1800000000' } })).toBe('unsigned');
    expect(verify({ headers: { 'x-svc-timestamp': 'NaN', 'x-svc-signature': 'x' } })).toBe('unsigned');
    expect(verify({ headers: { 'x-svc-timestamp': '1800000000', 'x-svc-signature': 'abc' } })).toBe('wrong_signature');
  });

  it('goes on verifying while the secret is being rotated, with the old secret and with the new', () => {
    const headers = { 'x-svc-timestamp': '1800000000', 'x-svc-signature': sign(body, 1_800_000_000, 'whsec_old'), 'x-svc-signature-next': sign(body, 1_800_000_000, 'whsec_new') };
    expect(verify({ headers, secret: 'whsec_old' })).toBe('genuine');
    expect(verify({ headers, secret: 'whsec_new' })).toBe('genuine');
  });
});

describe('the demo store', () => {
  let service: StandIn;
  let store: Store;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'demo-store-'));
    service = await startStandIn();
    store = await startStore({ port: 0, apiUrl: service.url, apiKey: 'svc_test_x', folder });
  });
  afterEach(async () => {
    await store.close();
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const placeOrder = async (id = randomUUID()) => {
    const response = await fetch(`${store.url}/orders`, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ order: id, sku: 'mug-enamel' }) });
    return { id, response };
  };
  const deliver = (event: object, change: { signature?: string } = {}) => {
    const body = JSON.stringify(event);
    const at = nowSeconds();
    return fetch(`${store.url}/webhooks`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-svc-timestamp': String(at), 'x-svc-signature': change.signature ?? sign(body, at), 'x-svc-event': 'e', 'x-svc-event-id': 'evt_1' },
    });
  };
  const completed = (orderId: string, change: object = {}) => ({
    event: 'payment.completed',
    data: { id: 'txn_1', amount: 1400, currency: 'USD', receipt_number: 'R-1', order_id: 'cs_1', metadata: { order_id: orderId }, ...change },
  });

  it('registers its webhook endpoint once and keeps the secret where only its owner can read it', async () => {
    expect(service.endpoints).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/webhooks$/)]);
    expect(statSync(join(folder, 'webhook.json')).mode & 0o777).toBe(0o600);
    const port = Number(new URL(store.url).port);
    await store.close();
    store = await startStore({ port, apiUrl: service.url, apiKey: 'svc_test_x', folder });
    expect(service.endpoints).toHaveLength(1);
  });

  it('leads a press of the button to the checkout, and a second press of the same button to the same one', async () => {
    const { id, response } = await placeOrder();
    expect(response.status).toBe(303);
    const again = await placeOrder(id);
    expect(again.response.headers.get('location')).toBe(response.headers.get('location'));
    expect(service.sessions).toHaveLength(1);
    expect(service.sessions[0]).toMatchObject({ key: `order-${id}-1`, body: { amount: 1400, currency: 'USD', metadata: { order_id: id } } });
  });

  it('sends a create whose answer was lost again under the same key', async () => {
    service.dropNext = 1;
    const { id, response } = await placeOrder();
    expect(response.status).toBe(303);
    expect(service.keys).toEqual([`order-${id}-1`, `order-${id}-1`]);
    expect(service.sessions).toHaveLength(1);
  });

  it('does not believe the success address: only the session says that an order is paid', async () => {
    const { id } = await placeOrder();
    const before = await (await fetch(`${store.url}/orders/${id}/success?session_id=cs_1`)).text();
    expect(before).toContain('data-status="awaiting_payment"');
    service.complete('cs_1');
    const after = await (await fetch(`${store.url}/orders/${id}/success?session_id=cs_1`)).text();
    expect(after).toContain('data-status="paid" data-fulfilled="false"');
  });

  it('packs one parcel per transaction, however often the webhook comes', async () => {
    const { id } = await placeOrder();
    const answers = await Promise.all([1, 2, 3, 4, 5].map(async () => (await deliver(completed(id))).text()));
    expect(answers.toSorted()).toEqual(['fulfilled', 'repeated', 'repeated', 'repeated', 'repeated']);
    await store.close();
    store = await startStore({ port: 0, apiUrl: service.url, apiKey: 'svc_test_x', folder });
    expect(await (await deliver(completed(id))).text()).toBe('repeated');
    expect(store.orders.find(id)).toMatchObject({ status: 'paid', transactionId: 'txn_1', receiptNumber: 'R-1', fulfilledAt: expect.any(String) as string });
  });

  it('packs nothing for a wrong amount, a second payment of the same order, or an order it does not know', async () => {
    const { id } = await placeOrder();
    expect(await (await deliver(completed(id, { amount: 1 }))).text()).toBe('wrong_amount');
    expect(await (await deliver(completed(randomUUID()))).text()).toBe('unknown_order');
    expect(store.orders.find(id)?.fulfilledAt).toBeNull();
    await deliver(completed(id));
    expect(await (await deliver(completed(id, { id: 'txn_2' }))).text()).toBe('paid_twice');
  });

  it('answers a forged webhook with 400 and changes nothing', async () => {
    const { id } = await placeOrder();
    const response = await deliver(completed(id), { signature: 'a'.repeat(64) });
    expect(response.status).toBe(400);
    expect(store.orders.find(id)?.status).toBe('awaiting_payment');
  });

  it('answers 200 to events it does not know', async () => {
    expect((await deliver({ event: 'something.new', data: {} })).status).toBe(200);
  });

  it('opens a new session when the customer tries again after a decline, and ignores late news of the old one', async () => {
    const { id } = await placeOrder();
    const failed = { event: 'payment.failed', data: { id: 'txn_1', order_id: 'cs_1', metadata: { order_id: id }, failure: { decline_code: 'generic_decline' } } };
    await deliver(failed);
    expect(store.orders.find(id)).toMatchObject({ status: 'failed', declineCode: 'generic_decline' });
    const again = await fetch(`${store.url}/orders/${id}/pay`, { method: 'POST', redirect: 'manual' });
    expect(again.headers.get('location')).toMatch(/cs_2$/);
    await deliver(failed);
    expect(store.orders.find(id)).toMatchObject({ status: 'awaiting_payment', attempt: 2, sessionId: 'cs_2' });
  });

  it('shows a cancelled order as one that can still be paid', async () => {
    const { id } = await placeOrder();
    await deliver({ event: 'checkout.cancelled', data: { id: 'cs_1', metadata: { order_id: id } } });
    expect(await (await fetch(`${store.url}/orders/${id}/cancel?session_id=cs_1`)).text()).toMatch(/data-status="cancelled"[\s\S]*Pay now/);
  });

  it('sells nothing that is not in the shop', async () => {
    const response = await fetch(`${store.url}/orders`, { method: 'POST', body: new URLSearchParams({ order: randomUUID(), sku: 'nothing' }) });
    expect(response.status).toBe(422);
    expect(service.sessions).toHaveLength(0);
  });
});

interface StandIn {
  readonly url: string;
  readonly endpoints: string[];
  readonly sessions: { key: string; body: object }[];
  /** Idempotency keys of every create that arrived. */
  readonly keys: string[];
  /** So many creates are done but never answered. */
  dropNext: number;
  complete(sessionId: string): void;
  close(): Promise<void>;
}

/** As much of the service as the store talks to, with its idempotency. */
async function startStandIn(): Promise<StandIn> {
  const statuses = new Map<string, string>();
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = (status: number, body: object): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      const body = chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as { url: string });
      const path = request.url ?? '';
      if (path === '/api/v1/webhook-endpoints') {
        standIn.endpoints.push((body as { url: string }).url);
        return answer(201, { id: 'we_1', secret });
      }
      if (path.startsWith('/api/v1/webhook-endpoints/')) return answer(200, {});
      if (request.method === 'POST') {
        const key = String(request.headers['idempotency-key']);
        standIn.keys.push(key);
        if (!standIn.sessions.some((session) => session.key === key)) standIn.sessions.push({ key, body });
        if (standIn.dropNext-- > 0) return void request.socket.destroy();
        const id = `cs_${standIn.sessions.findIndex((session) => session.key === key) + 1}`;
        return answer(201, { id, status: 'open', checkout_url: `${standIn.url}/checkout/${id}` });
      }
      const id = path.split('/').at(-1) ?? '';
      const status = statuses.get(id) ?? 'open';
      answer(200, { id, status, amount: 1400, currency: 'USD', transaction: status === 'completed' ? { id: 'txn_1', receipt_number: 'R-1', status: 'captured' } : null });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    endpoints: [],
    sessions: [],
    keys: [],
    dropNext: 0,
    complete: (sessionId) => void statuses.set(sessionId, 'completed'),
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
  return standIn;
}
