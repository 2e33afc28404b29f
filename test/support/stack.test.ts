// The stack that other tests stand on: the product answers, its worker works, and it comes back with its data.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { startStack } from './stack.ts';
import type { Stack } from './stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

const session = { amount: 2500, currency: 'USD', success_url: 'https://shop.example/ok', failure_url: 'https://shop.example/no' };

it('is ready: Postgres, Temporal and workers', async () => {
  await eventually(async () => {
    const { status, text } = await stack.api.call('GET', '/../../readyz');
    expect(text).toContain('"ready"');
    expect(status).toBe(200);
  });
});

it('creates a session whose workflow runs in a namespace of its own', async () => {
  const created = await stack.api.post('/checkout-sessions', session);
  expect(created.status).toBe(201);
  const handle = stack.service.client.workflow.getHandle(String(created.body['id']));
  await eventually(async () => expect((await handle.describe()).status.name).toBe('RUNNING'));
  await stack.restart();
  const read = await stack.api.get(`/checkout-sessions/${String(created.body['id'])}`);
  expect(read.body).toMatchObject({ id: created.body['id'], status: 'open' });
});

it('keeps merchants apart', async () => {
  const other = await stack.addMerchant('Other Store');
  const created = await stack.api.post('/checkout-sessions', session);
  expect((await other.api.get(`/checkout-sessions/${String(created.body['id'])}`)).status).toBe(404);
});
