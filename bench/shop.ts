// What merchants and customers do with the product, one function each, over HTTP and with every check on: keys, limits,
// idempotency keys, form tokens.
import { randomBytes, randomInt } from 'node:crypto';
import { ulid } from 'ulid';
import { makeId } from '../domain/id.ts';
import { makeFormToken } from '../pages/form-guard.ts';
import { openHttp } from './http.ts';
import type { Platform } from './platform.ts';
import { type SeededMerchant, seedMerchants } from './seed.ts';

export interface OpenSession {
  readonly id: string;
  /** Path of its page. */
  readonly page: string;
  readonly merchant: SeededMerchant;
}

export interface Shop {
  /** A merchant without endpoints, or one whose single endpoint takes every event. */
  merchant(kind: 'plain' | 'hooked'): SeededMerchant;
  create(merchant: SeededMerchant): Promise<OpenSession>;
  /** The pay form with a card that is approved; resolves with the redirect to the merchant. */
  pay(session: OpenSession): Promise<void>;
  read(session: OpenSession): Promise<void>;
  /** Any call of the API; a mutation carries an idempotency key. @returns the answer's body */
  call(merchant: SeededMerchant, path: string, body: object | null, expected: number): Promise<Record<string, unknown>>;
  /** So many sessions, made eight at a time. */
  stock(count: number, kind: 'plain' | 'hooked'): Promise<OpenSession[]>;
  close(): Promise<void>;
}

/** Merchants that get an endpoint. */
const hookedCount = 100;

export async function openShop(platform: Platform, receiverUrl: string): Promise<Shop> {
  const http = openHttp(platform.origin);
  const merchants = await seedMerchants(platform.runtime.database_url);
  const hooked = merchants.slice(0, hookedCount);
  const plain = merchants.slice(hookedCount);
  for (const merchant of hooked) await http.post('/api/v1/webhook-endpoints', JSON.stringify({ url: receiverUrl, events: ['*'] }), json(merchant), 201);
  const turns = { plain: 0, hooked: 0 };

  const shop: Shop = {
    merchant(kind) {
      const list = kind === 'plain' ? plain : hooked;
      return list[turns[kind]++ % list.length] as SeededMerchant;
    },
    async create(merchant) {
      const { text } = await http.post('/api/v1/checkout-sessions', JSON.stringify(sessionBody(ulid())), { ...json(merchant), 'idempotency-key': randomBytes(16).toString('hex') }, 201);
      const { id, checkout_url } = JSON.parse(text) as { id: string; checkout_url: string };
      return { id, page: new URL(checkout_url).pathname, merchant };
    },
    async pay(session) {
      const form = new URLSearchParams({ form_token: makeFormToken(platform.keyRing, session.id), method: 'new', number: '4242 4242 4242 4242', expiry: '12 / 40', cvc: '123', name: 'Ada Lovelace', email: 'ada@shop.example' });
      const { headers } = await http.post(`${session.page}/pay`, form.toString(), { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': anAddress() }, 303);
      if (!String(headers['location']).startsWith('https://shop.example/thanks')) throw new Error(`paying led to ${String(headers['location']).slice(0, 60)}`);
    },
    async read(session) {
      await http.get(`/api/v1/checkout-sessions/${session.id}`, { authorization: `Bearer ${session.merchant.key()}` });
    },
    async call(merchant, path, body, expected) {
      const headers = { ...json(merchant), 'idempotency-key': randomBytes(16).toString('hex') };
      const { text } = body === null ? await http.get(`/api/v1${path}`, headers) : await http.post(`/api/v1${path}`, JSON.stringify(body), headers, expected);
      return JSON.parse(text) as Record<string, unknown>;
    },
    async stock(count, kind) {
      const made: OpenSession[] = [];
      let left = count;
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          while (left-- > 0) made.push(await shop.create(shop.merchant(kind)));
        }),
      );
      return made;
    },
    close: () => http.close(),
  };
  return shop;
}

/** An id the floor's workflows can have, shaped like ours. */
export const newFloorId = (): string => makeId('session', ulid);

function sessionBody(order: string): object {
  return {
    amount: 2500,
    currency: 'USD',
    description: 'Two coffees and a cake',
    success_url: `https://shop.example/thanks?order=${order}`,
    failure_url: `https://shop.example/sorry?order=${order}`,
    cancel_url: `https://shop.example/cart?order=${order}`,
    metadata: { order, channel: 'web' },
  };
}

function json(merchant: SeededMerchant): Record<string, string> {
  return { authorization: `Bearer ${merchant.key()}`, 'content-type': 'application/json' };
}

/** Each customer comes from an address of their own, so that the limit per address counts but does not bite. */
const anAddress = (): string => `20.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`;
