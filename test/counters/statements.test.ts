// How many statements the hot operations wait for. No timing: names and their number.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../support/stack.ts';
import { batched, statements } from './budgets.ts';
import { type CreatedCheckout, createCheckout, payCheckout } from './checkout.ts';
import { countStatements, type StatementCount } from './count-statements.ts';
import { type Money, saveCard } from './money.ts';

let stack: Stack;
let count: StatementCount;
beforeAll(async () => {
  stack = await startStack();
  count = countStatements(stack.service.db);
});
afterAll(() => stack?.stop());

const named = (names: readonly string[], name: string): boolean => names.includes(name);
const hot = Object.values(statements).flat();
/** What the sweep does every ten seconds, whoever calls meanwhile. */
const sweeps = /^(unstarted|overdue|stuck|take-overdue|deliveries-without|drop|delete-old|read-system-fact|count-stuck|fold-listing|waiting-card|authorizations-without|abandoned)/;

/** What the work waited for, without batches and sweeps. Transactions of Knex count by their words. */
async function sentBy(work: () => Promise<unknown>): Promise<string[]> {
  count.take();
  await work();
  return count.take().filter((name) => named(hot, name) || (!named(batched, name) && !sweeps.test(name)));
}

it('a create waits for these statements and no others', async () => {
  await createCheckout(stack, 'warm-up');
  expect(await sentBy(() => createCheckout(stack, 'counted'))).toEqual(statements.create);
});

it('a GET waits for its admission and its row', async () => {
  const { id } = await createCheckout(stack, 'to be read');
  expect(await sentBy(() => stack.api.get(`/checkout-sessions/${id}`))).toEqual(statements.get);
});

it('a payment waits for these statements, the page and the workflow together', async () => {
  await payCheckout(stack, await createCheckout(stack, 'paid to warm up'));
  const checkout: CreatedCheckout = await createCheckout(stack, 'paid and counted');
  expect(await sentBy(() => payCheckout(stack, checkout))).toEqual(statements.pay);
});

describe('a saved card', () => {
  let money: Money;
  beforeAll(async () => {
    money = await saveCard(stack);
    await money.charge('charged to warm up');
  });

  it('is charged by these statements, request and workflow together', async () => {
    expect(await sentBy(() => money.charge('charged and counted'))).toEqual(statements.chargeToken);
  });

  it('its payment is read by its admission and one statement, refunds included', async () => {
    const id = await money.charge('charged to be read');
    expect(await sentBy(() => stack.api.get(`/payments/${id}`))).toEqual(statements.getPayment);
  });

  it('is refunded by these statements', async () => {
    await money.refund(await money.charge('refunded to warm up'), 'refund to warm up');
    const id = await money.charge('charged to be refunded');
    expect(await sentBy(() => money.refund(id, 'refunded and counted'))).toEqual(statements.refund);
  });

  it('has its authorisation captured by these statements', async () => {
    await money.capture(await money.charge('captured to warm up', false), 'capture to warm up');
    const id = await money.charge('authorised to be captured', false);
    expect(await sentBy(() => money.capture(id, 'captured and counted'))).toEqual(statements.capture);
  });

  it('has its authorisation voided by these statements', async () => {
    await money.void(await money.charge('voided to warm up', false), 'void to warm up');
    const id = await money.charge('authorised to be voided', false);
    expect(await sentBy(() => money.void(id, 'voided and counted'))).toEqual(statements.void);
  });
});

it('what is written beside the requests grows with time, not with requests', async () => {
  await createCheckout(stack, 'before the burst');
  count.take();
  const creates = 40;
  const begun = performance.now();
  await Promise.all(Array.from({ length: creates }, (_, n) => createCheckout(stack, `burst ${n}`)));
  const sent = count.take();
  // The most eager batch leaves every fifth of a second; a slow machine has more of them in a longer time.
  expect(sent.filter((name) => named(batched, name)).length).toBeLessThan(5 + (performance.now() - begun) / 100);
  // Admissions that come together are decided together.
  expect(sent.filter((name) => name === 'admit-keys').length).toBeLessThan(creates);
  expect(sent.filter((name) => name === 'create-session')).toHaveLength(creates);
});
