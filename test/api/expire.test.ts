// Expiring through a real workflow: what the API alone cannot show.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startStack, type Stack } from '../support/stack.ts';
import { sessionBody } from './app-fixture.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

test('ends an open session once, whoever asks how often', async () => {
  const { body } = await stack.api.post('/checkout-sessions', sessionBody);
  const path = `/checkout-sessions/${body['id']}/expire`;
  const answers = await Promise.all(Array.from({ length: 5 }, () => stack.api.post(path)));
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
  for (const answer of answers.filter((one) => one.status !== 200)) {
    expect([answer.status, answer.body['code'], answer.body['current_status']]).toEqual([409, 'session_not_open', 'expired']);
  }
  expect((await stack.api.get(`/checkout-sessions/${body['id']}`)).body).toMatchObject({ status: 'expired', transaction: null });
  const events = await stack.db.query(`select type from events where resource_id = $1`, [body['id']]);
  expect(events).toEqual([{ type: 'checkout_session.expired' }]);
});

test('with one key has one answer, byte for byte', async () => {
  const { body } = await stack.api.post('/checkout-sessions', sessionBody);
  const path = `/checkout-sessions/${body['id']}/expire`;
  const first = await stack.api.post(path, {}, { idempotencyKey: 'expire-1' });
  const second = await stack.api.post(path, {}, { idempotencyKey: 'expire-1' });
  expect([first.status, second.text, second.headers['idempotent-replayed']]).toEqual([200, first.text, 'true']);
});

test('everything the service needs is ready', async () => {
  await expect.poll(async () => (await fetch(`${stack.url}/readyz`)).json(), { timeout: 20_000 }).toMatchObject({ status: 'ready', checks: { postgres: 'ok', temporal: 'ok', workers: 'ok' } });
});
