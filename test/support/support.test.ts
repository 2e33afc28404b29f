// The harness itself: a run that starts nothing real would prove nothing.
import { Client, Connection } from '@temporalio/client';
import { afterAll, expect, it } from 'vitest';
import { request } from 'undici';
import { openBrowser } from './chromium.ts';
import { createDatabase } from './database.ts';
import { startReceiver } from './receiver.ts';
import { createNamespace } from './temporal-namespace.ts';

const closing: (() => Promise<unknown>)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

it('gives each file a migrated database of its own', async () => {
  const one = await createDatabase();
  const other = await createDatabase();
  closing.push(one.drop, other.drop);
  await one.query('CREATE TABLE mine (id int)');
  const tables = await other.query<{ n: number }>("SELECT count(*)::int AS n FROM pg_tables WHERE tablename = 'mine'");
  expect(tables).toEqual([{ n: 0 }]);
  expect((await other.query("SELECT 1 FROM pg_tables WHERE tablename = 'merchants'")).length).toBe(1);
});

it('gives each stack a Temporal namespace that starts workflows at once', async () => {
  const { address, namespace } = await createNamespace();
  const connection = await Connection.connect({ address });
  closing.push(() => connection.close());
  const handle = await new Client({ connection, namespace }).workflow.start('anything', { taskQueue: 'nobody', workflowId: 'one' });
  expect((await handle.describe()).status.name).toBe('RUNNING');
});

it('records webhooks byte for byte', async () => {
  const receiver = await startReceiver();
  closing.push(receiver.stop);
  receiver.behave({ status: 503 });
  const answer = await request(receiver.url, { method: 'POST', body: '{ "id":"evt_1", "event":"payment.completed","data":{}}', headers: { 'x-one': '1' } });
  await answer.body.dump();
  expect(answer.statusCode).toBe(503);
  const [delivery] = await receiver.received('payment.completed');
  expect(delivery?.raw.toString()).toBe('{ "id":"evt_1", "event":"payment.completed","data":{}}');
  expect(delivery?.headers['x-one']).toBe('1');
});

it('opens pages in a real browser', async () => {
  const browser = await openBrowser();
  closing.push(browser.close);
  const page = await browser.newPage();
  await page.setContent('<title>x</title><p>hello</p>');
  expect(await page.textContent('p')).toBe('hello');
});
