// A customer's whole story in a real browser: the demo store, the hosted page, the bank, the webhook, the parcel. The store
// is a merchant and knows the service by its public interface alone.
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { startStore, type Store } from '../../examples/demo-store/store.ts';
import { openBrowser, type TestBrowser } from '../support/chromium.ts';
import { eventually, remains } from '../support/eventually.ts';
import { startStack, type Stack } from '../support/stack.ts';

let stack: Stack;
let store: Store;
let browser: TestBrowser;
let folder: string;
const storeLog: string[] = [];

beforeAll(async () => {
  [stack, browser] = await Promise.all([startStack(), openBrowser()]);
  folder = mkdtempSync(join(inject('runDir'), 'store-'));
  store = await openStore();
});
afterAll(async () => {
  await browser?.close();
  await store?.close();
  await stack?.stop();
});

function openStore(port = 0): Promise<Store> {
  return startStore({ port, apiUrl: stack.url, apiKey: stack.keys.test, folder, log: (line) => void storeLog.push(line) });
}

let page: Page;
beforeEach(async () => {
  page = await browser.newPage();
});

/** From the shop to the hosted page. @returns the order's id */
async function buy(product: string): Promise<string> {
  const before = new Set(store.orders.all().map((order) => order.id));
  await page.goto(store.url);
  await page.getByRole('button', { name: `Buy ${product}` }).click();
  await page.waitForURL(/\/checkout\/cs_/);
  const order = store.orders.all().find(({ id }) => !before.has(id));
  if (order === undefined) throw new Error('the store has no new order');
  return order.id;
}

async function pay(number: string): Promise<void> {
  await page.locator('[name=number]').fill(number);
  await page.locator('[name=expiry]').fill('12 / 34');
  await page.locator('[name=cvc]').fill('123');
  for (const [name, value] of [['name', 'Ada Lovelace'], ['email', 'ada@example.com']] as const) {
    const field = page.locator(`[name=${name}]`);
    if (await field.isVisible()) await field.fill(value);
  }
  await page.locator('form.pay button[type=submit]').click();
}

const packed = (id: string) => eventually(() => expect(store.orders.find(id)).toMatchObject({ status: 'paid', fulfilledAt: expect.any(String) as string }));

describe('a customer of the demo store', () => {
  it('pays, comes back, and gets one parcel when the webhook has come', async () => {
    const id = await buy('Enamel mug');
    await pay('4242 4242 4242 4242');
    await page.waitForURL(`${store.url}/orders/${id}/success?session_id=cs_*`);
    await packed(id);
    await page.reload();
    await page.locator('[data-status=paid][data-fulfilled=true]').waitFor();
    const order = store.orders.find(id);
    expect(await page.textContent('main')).toContain(order?.receiptNumber ?? 'a receipt number');
    // What the shop shows is what the service says.
    const { body } = await stack.api.get<{ status: string; transaction: { id: string } }>(`/checkout-sessions/${order?.sessionId}`);
    expect(body).toMatchObject({ status: 'completed', transaction: { id: order?.transactionId, status: 'captured', card_last4: '4242' } });
    expect(storeLog.filter((line) => line.includes('payment.completed')).at(-1)).toMatch(/: fulfilled$/);
  });

  it('goes through the bank when the card asks for it', async () => {
    const id = await buy('Pour-over set');
    await pay('4000 0000 0000 3220');
    await page.getByRole('button', { name: 'Complete' }).click();
    await page.waitForURL(`${store.url}/orders/${id}/success?session_id=cs_*`);
    await packed(id);
  });

  it('is declined, tries again with another card in a new session, and pays once', async () => {
    const id = await buy('Blue Mountain coffee');
    const first = store.orders.find(id)?.sessionId;
    await pay('4000 0000 0000 0002');
    await page.waitForURL(`${store.url}/orders/${id}/failure?session_id=cs_*`);
    await page.locator('[data-status=failed]').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.waitForURL(/\/checkout\/cs_/);
    await pay('5555 5555 5555 4444');
    await page.waitForURL(`${store.url}/orders/${id}/success?session_id=cs_*`);
    await packed(id);
    expect(store.orders.find(id)).toMatchObject({ attempt: 2, status: 'paid' });
    expect(store.orders.find(id)?.sessionId).not.toBe(first);
  });

  it('cancels on the hosted page and finds the order still waiting to be paid', async () => {
    const id = await buy('Enamel mug');
    await page.locator('form[action$="/cancel"] button').click();
    await page.waitForURL(`${store.url}/orders/${id}/cancel?session_id=cs_*`);
    await page.locator('[data-status=cancelled]').waitFor();
    expect(store.orders.find(id)?.fulfilledAt).toBeNull();
    await page.getByRole('button', { name: 'Pay now' }).click();
    await page.waitForURL(/\/checkout\/cs_/);
  });

  it('gets nothing for typing the success address', async () => {
    const id = await buy('Enamel mug');
    await page.goto(`${store.url}/orders/${id}/success?session_id=${store.orders.find(id)?.sessionId}`);
    await page.locator('[data-status=awaiting_payment]').waitFor();
    await remains(() => expect(store.orders.find(id)?.fulfilledAt).toBeNull(), 300);
  });

  it('gets the parcel after all when the store was closed while the payment went through', async () => {
    const id = await buy('Pour-over set');
    const port = Number(new URL(store.url).port);
    const checkout = page.url();
    await store.close();
    await page.goto(checkout);
    await pay('4242 4242 4242 4242').catch(() => undefined);
    const kept = JSON.parse(readFileSync(join(folder, 'orders.json'), 'utf8')) as { orders: Record<string, { sessionId: string }> };
    await eventually(async () => expect((await stack.api.get(`/checkout-sessions/${kept.orders[id]?.sessionId}`)).body).toMatchObject({ status: 'completed' }));
    store = await openStore(port);
    // The second attempt comes five seconds after the first.
    await eventually(() => expect(store.orders.find(id)?.fulfilledAt).not.toBeNull(), { withinMs: 30_000 });
  });

  it('leaves no card number in what the store or the service wrote down', () => {
    const written = readFileSync(join(folder, 'orders.json'), 'utf8') + storeLog.join('\n') + stack.logs.join('\n');
    expect(written).not.toMatch(/4242 ?4242 ?4242|4000000000003220|5555555555554444|whsec_/);
  });
});
