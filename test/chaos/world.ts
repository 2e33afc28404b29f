// Who is there during a scenario: merchants with keys and webhook receivers, customers with cards, and the record of all
// that was asked and answered, which the checker holds against the rows.
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ulid } from 'ulid';
import { Agent, request } from 'undici';
import { makeId } from '../../domain/id.ts';
import { openDatabase } from '../../models/database.ts';
import { createKey } from '../../operations/create-key.ts';
import { createMerchant } from '../../operations/create-merchant.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import type { ChaosStack } from './stack.ts';

export const cards = {
  good: '4242424242424242',
  declined: '4000000000000002',
  slow: '4000000000000275',
  lost: '4000000000000259',
} as const;

export interface Merchant {
  readonly id: string;
  readonly keys: readonly string[];
  readonly receiver: Receiver;
  readonly endpointId: string;
  readonly secret: string;
}

export interface Reply {
  /** 0: no answer came. */
  readonly status: number;
  readonly text: string;
  readonly location: string | null;
  readonly replayed: boolean;
}

/** A POST with an idempotency key, as the client saw it end. */
export interface KeyedRequest {
  readonly merchant: Merchant;
  readonly idempotencyKey: string;
  readonly path: string;
  readonly body: object;
  readonly replies: Reply[];
}

export interface Session {
  readonly merchant: Merchant;
  readonly id: string;
  readonly checkoutUrl: string;
  readonly expiresAtMs: number;
}

export interface World {
  readonly stack: ChaosStack;
  readonly merchants: readonly Merchant[];
  readonly keyed: KeyedRequest[];
  /** Bodies of all answers of 400 and above. */
  readonly errorBodies: string[];
  /** Where customers were led: what a page told them must be true. */
  readonly told: { readonly sessionId: string; readonly status: 'completed' | 'failed' | 'cancelled' }[];
  /** A session per call, for one merchant after the other. @throws when it is not a 201 */
  createSession(fields?: object): Promise<Session>;
  /** The same request any number of times under one key; `origin` other than the usual one for a single call. */
  keyedCreate(fields?: object): KeyedRequest;
  /** A request under a key of its own, sent by `send`; its body's `metadata.order` tells what it made. */
  ask(merchant: Merchant, path: string, body: object): KeyedRequest;
  /** Sends until an outcome is told: anything but silence, 202, 429, 5xx and "still worked on". Null when none came in time. */
  insist(keyed: KeyedRequest, withinMs?: number): Promise<Reply | null>;
  /** Saves a card and gives the token's id. @throws when it is not a 201 */
  saveCard(merchant: Merchant, card?: string): Promise<string>;
  send(keyed: KeyedRequest, origin?: string, body?: object): Promise<Reply>;
  get(merchant: Merchant, path: string): Promise<Reply>;
  /** Opens the page and gives what the form posts; null when the page has no form. */
  openForm(session: Session, card: string, origin?: string): Promise<URLSearchParams | null>;
  post(session: Session, action: 'pay' | 'cancel' | 'check', form: URLSearchParams, origin?: string): Promise<Reply>;
  /** Open and pay. */
  pay(session: Session, card?: string, origin?: string): Promise<Reply>;
  stop(): Promise<void>;
}

const keysPerMerchant = 60;

export async function startWorld(stack: ChaosStack, options: { merchants?: number } = {}): Promise<World> {
  const agent = new Agent({ connections: 128, connect: { timeout: 2_000 } });
  const errorBodies: string[] = [];
  const keyed: KeyedRequest[] = [];
  const told: World['told'] = [];
  let turn = 0;

  const call = async (method: 'GET' | 'POST', url: string, headers: Record<string, string>, body?: string): Promise<Reply> => {
    try {
      const answer = await request(url, { dispatcher: agent, method, headers, headersTimeout: 30_000, bodyTimeout: 30_000, ...(body === undefined ? {} : { body }) });
      const text = await answer.body.text();
      if (answer.statusCode >= 400) errorBodies.push(text);
      const { location } = answer.headers;
      return { status: answer.statusCode, text, location: typeof location === 'string' ? location : null, replayed: answer.headers['idempotent-replayed'] === 'true' };
    } catch (error) {
      return { status: 0, text: String(error), location: null, replayed: false };
    }
  };
  const bearer = (merchant: Pick<Merchant, 'keys'>): Record<string, string> => ({ authorization: `Bearer ${merchant.keys[turn++ % merchant.keys.length]}`, 'content-type': 'application/json' });
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
  const at = (session: Session, origin?: string): string => (origin === undefined ? session.checkoutUrl : origin + new URL(session.checkoutUrl).pathname);

  const db = openDatabase({ url: stack.databaseUrl, poolSize: 4, statementTimeoutMs: 10_000, onConnectionError: () => undefined });
  const merchants: Merchant[] = [];
  try {
    const deps = { db, newId: (kind: Parameters<typeof makeId>[0]) => makeId(kind, ulid) };
    for (let n = 0; n < (options.merchants ?? 2); n++) {
      const made = await createMerchant(deps, { name: `Chaos Store ${n}` });
      const keys = [made.test.key];
      while (keys.length < keysPerMerchant) keys.push((await createKey(deps, { merchantId: made.merchantId, mode: 'test' })).key);
      const receiver = await startReceiver();
      const answer = await call('POST', `${stack.url}/api/v1/webhook-endpoints`, bearer({ keys }), JSON.stringify({ url: `${receiver.url}/${n}`, events: ['*'] }));
      if (answer.status !== 201) throw new Error(`no endpoint: ${answer.status} ${answer.text}`);
      const { id, secret } = JSON.parse(answer.text) as { id: string; secret: string };
      merchants.push({ id: made.merchantId, keys, receiver, endpointId: id, secret });
      stack.secrets.push(...keys, made.live.key, secret);
    }
  } finally {
    await db.close();
  }

  const world: World = {
    stack,
    merchants,
    keyed,
    errorBodies,
    told,
    async createSession(fields = {}) {
      const request = world.keyedCreate(fields);
      const reply = await world.send(request);
      if (reply.status !== 201) throw new Error(`no session: ${reply.status} ${reply.text.slice(0, 300)}`);
      return toSession(request, reply);
    },
    keyedCreate(fields = {}) {
      const merchant = merchants[keyed.length % merchants.length]!;
      const body = { amount: 2500, currency: 'USD', success_url: 'https://shop.example/ok', failure_url: 'https://shop.example/no', cancel_url: 'https://shop.example/gone', metadata: { order: randomUUID() }, ...fields };
      const request = { merchant, idempotencyKey: randomUUID(), path: '/api/v1/checkout-sessions', body, replies: [] };
      keyed.push(request);
      return request;
    },
    ask(merchant, path, body) {
      const request = { merchant, idempotencyKey: randomUUID(), path: `/api/v1${path}`, body, replies: [] };
      keyed.push(request);
      return request;
    },
    async insist(request, withinMs = 60_000) {
      const deadline = Date.now() + withinMs;
      for (;;) {
        const reply = await world.send(request);
        if (isFinal(reply)) return reply;
        if (Date.now() > deadline) return null;
        await sleep(300);
      }
    },
    async saveCard(merchant, card = cards.good) {
      const body = { card: { number: card, expiry_month: 12, expiry_year: 2040, cvc: '737' }, external_customer_id: randomUUID() };
      const reply = await call('POST', `${stack.url}/api/v1/tokenize`, bearer(merchant), JSON.stringify(body));
      if (reply.status !== 201) throw new Error(`no saved card: ${reply.status} ${reply.text.slice(0, 300)}`);
      return (JSON.parse(reply.text) as { id: string }).id;
    },
    async send(request, origin = stack.url, body = request.body) {
      const reply = await call('POST', origin + request.path, { ...bearer(request.merchant), 'idempotency-key': request.idempotencyKey }, JSON.stringify(body));
      if (body === request.body) request.replies.push(reply);
      return reply;
    },
    get: (merchant, path) => call('GET', stack.url + path, bearer(merchant)),
    async openForm(session, card, origin) {
      const page = await call('GET', at(session, origin), {});
      const token = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1];
      if (token === undefined) return null;
      return new URLSearchParams({ form_token: token, method: 'new', email: 'buyer@example.com', number: card, expiry: '12/34', cvc: '737', name: 'Chaos Buyer' });
    },
    async post(session, action, fields, origin) {
      const reply = await call('POST', `${at(session, origin)}/${action}`, form, fields.toString());
      if (leadsTo.success(reply)) told.push({ sessionId: session.id, status: 'completed' });
      if (leadsTo.failure(reply)) told.push({ sessionId: session.id, status: 'failed' });
      if (leadsTo.cancelled(reply)) told.push({ sessionId: session.id, status: 'cancelled' });
      return reply;
    },
    async pay(session, card = cards.good, origin) {
      const fields = await world.openForm(session, card, origin);
      return fields === null ? { status: 0, text: 'no form', location: null, replayed: false } : world.post(session, 'pay', fields, origin);
    },
    async stop() {
      await Promise.all(merchants.map((merchant) => merchant.receiver.stop()));
      await agent.close();
    },
  };
  return world;
}

/** Whether an answer tells how the request ended; the others ask to be repeated. */
export function isFinal(reply: Reply): boolean {
  if (reply.status === 0 || reply.status === 202 || reply.status === 429 || reply.status >= 500) return false;
  return reply.status !== 409 || !/"code":"(idempotency_in_progress|payment_outcome_pending)"/.test(reply.text);
}

export function toSession(request: KeyedRequest, reply: Reply): Session {
  const body = JSON.parse(reply.text) as { id: string; checkout_url: string; expires_at: string };
  return { merchant: request.merchant, id: body.id, checkoutUrl: body.checkout_url, expiresAtMs: Date.parse(body.expires_at) };
}

export const leadsTo = {
  success: (reply: Reply): boolean => reply.status === 303 && (reply.location ?? '').startsWith('https://shop.example/ok'),
  failure: (reply: Reply): boolean => reply.status === 303 && (reply.location ?? '').startsWith('https://shop.example/no'),
  cancelled: (reply: Reply): boolean => reply.status === 303 && (reply.location ?? '').startsWith('https://shop.example/gone'),
};

/** A reply without what differs by nature, for grouping in messages. */
export function describe(reply: Reply): string {
  return reply.status === 0 ? `no answer (${reply.text.slice(0, 80)})` : `${reply.status}${reply.location === null ? '' : ` to ${reply.location.replace(/\?.*/, '').replace(/\/cs_.*/, '/page')}`}`;
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

export const sleep = (ms: number): Promise<void> => pause(ms).then(() => undefined);
