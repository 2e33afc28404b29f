// What the hot queries read: buffers touched at 100,000 rows of each kind, all of one merchant. No timing.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SeededRows, seedRows, settleTables } from '../../bench/seed-rows.ts';
import { startStack, type Stack } from '../support/stack.ts';
import { buffers, listingBuffers, statements } from './budgets.ts';
import { createCheckout, payCheckout } from './checkout.ts';
import { type Explained, explainStatements } from './explain-statements.ts';
import { saveCard } from './money.ts';

const rowsOfEachKind = 100_000;
const hot: ReadonlySet<string> = new Set(Object.values(statements).flat().filter((name) => !name.startsWith('knex')));

let stack: Stack;
let seeded: SeededRows;
let explained: Explained;
beforeAll(async () => {
  stack = await startStack();
  const client = new pg.Client({ connectionString: stack.db.url });
  await client.connect();
  seeded = await seedRows(client, stack.merchant.merchantId, '1', rowsOfEachKind);
  await settleTables(client);
  await client.end();
  explained = await explainStatements(stack.service.db, stack.db.url, (name) => hot.has(name));
}, 120_000);
afterAll(async () => {
  await explained?.close();
  await stack?.stop();
});

it('every statement of the hot operations stays within its buffers', async () => {
  const money = await saveCard(stack);
  for (const turn of ['first', 'second']) {
    const checkout = await createCheckout(stack, `${turn} create`);
    await stack.api.get(`/checkout-sessions/${checkout.id}`);
    await payCheckout(stack, checkout);
    await money.refund(await money.charge(`${turn} charge`), `${turn} refund`);
    await money.capture(await money.charge(`${turn} authorisation`, false), `${turn} capture`);
    await money.void(await money.charge(`${turn} authorisation to void`, false), `${turn} void`);
    expect((await stack.api.get(`/payments/${seeded.paymentId}`)).body['refunds']).toHaveLength(1);
  }
  const seen = Object.fromEntries([...explained.buffers].toSorted());
  expect(Object.keys(seen)).toEqual([...hot].toSorted());
  expect(Object.entries(seen).filter(([name, count]) => count > (buffers[name] ?? 0)), JSON.stringify(seen)).toEqual([]);
});

describe('a listing', () => {
  const read = async (path: string): Promise<number> => {
    await explained.queriesOfKnex();
    const { status } = await stack.api.get(path);
    expect(status).toBe(200);
    const counts = await explained.queriesOfKnex();
    expect(counts, 'a query that was not seen has no buffers').not.toEqual([]);
    return counts.reduce((sum, count) => sum + count, 0);
  };

  it.each(Object.entries(listingBuffers))('%s stays within its buffers', async (path, budget) => {
    const wanted = path.replace('{customer}', seeded.customerId).replace('{external}', seeded.externalCustomerId);
    expect(await read(wanted)).toBeLessThanOrEqual(budget);
  });
});
