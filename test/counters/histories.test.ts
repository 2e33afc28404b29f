// What a session costs Temporal: events and bytes of a paid and of an expired one, as its server counts them.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ulid } from 'ulid';
import { createSession } from '../../operations/create-session.ts';
import { createSessionDoor } from '../../temporal/session-door.ts';
import { eventually } from '../support/eventually.ts';
import { startStack, type Stack } from '../support/stack.ts';
import { history } from './budgets.ts';
import { createCheckout, payCheckout } from './checkout.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

async function costOf(sessionId: string): Promise<{ events: number; bytes: number; types: string[] }> {
  const handle = stack.service.client.workflow.getHandle(sessionId);
  await eventually(async () => expect((await handle.describe()).status.name).toBe('COMPLETED'));
  const { historyLength, historySize } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const types = (events ?? []).map((event) => String(event.eventType));
  expect(types).toHaveLength(historyLength);
  return { events: historyLength, bytes: historySize ?? 0, types };
}

it('a paid session stays within its budget', async () => {
  const checkout = await createCheckout(stack, 'paid');
  await payCheckout(stack, checkout);
  const cost = await costOf(checkout.id);
  expect(cost.events, cost.types.join(' ')).toBeLessThanOrEqual(history.paid.events);
  expect(cost.bytes).toBeLessThanOrEqual(history.paid.bytes);
  expect(cost.bytes).toBeGreaterThan(0);
});

it('an expired session stays within its budget', async () => {
  // The API's shortest session lasts a minute; the operation below it takes any length.
  const { operations, client } = stack.service;
  const now = new Date();
  const { session } = await createSession(operations, { merchantId: stack.merchant.merchantId, mode: 'test', now }, shortSession, null);
  const door = createSessionDoor({ client, queuePrefix: '', newId: ulid, onStarted: () => undefined, onUnavailable: (error) => { throw error; } });
  await door.startSession(session);
  const cost = await costOf(session.id);
  const read = await stack.api.get(`/checkout-sessions/${session.id}`);
  expect(read.body['status']).toBe('expired');
  expect(cost.events, cost.types.join(' ')).toBeLessThanOrEqual(history.expired.events);
  expect(cost.bytes).toBeLessThanOrEqual(history.expired.bytes);
});

const shortSession = {
  amountMinor: 2500,
  currency: 'USD',
  successUrl: 'https://shop.example/thanks',
  failureUrl: 'https://shop.example/sorry',
  cancelUrl: null,
  description: null,
  customer: null,
  customerId: null,
  lineItems: [],
  subtotalMinor: null,
  taxName: null,
  taxRate: null,
  taxAmountMinor: null,
  metadata: {},
  gateway: null,
  expiresInMinutes: 2 / 60,
  source: 'api',
  orderId: null,
  savePaymentMethod: false,
  locale: null,
  recoveredFrom: null,
  capture: true,
  asked: 'session' as const,
};
