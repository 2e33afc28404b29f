// Totals as deltas: the triggers against a real count, whatever the statement, and the fold against itself.
import knexFactory from 'knex';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as deltas from '../../migrations/20261121110300-listing-deltas.ts';
import { type Database, openDatabase } from '../../models/database.ts';
import { foldListingCounts } from '../../models/listing-count.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase();
  db = openDatabase({ url: database.url, poolSize: 12, statementTimeoutMs: 15_000, onConnectionError: () => undefined });
  for (const id of ['mer_a', 'mer_b']) {
    await database.query('insert into merchants (id, name) values ($1, $1)', [id]);
    for (const mode of ['test', 'live']) await database.query(`insert into merchant_settings (merchant_id, mode, currencies) values ($1, $2, '{USD}')`, [id, mode]);
  }
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const insert = (prefix: string, merchant: string, count: number, tried: boolean): Promise<unknown> =>
  database.query(
    `insert into transactions (id, merchant_id, mode, status, amount, currency, source, gateway, receipt_number, tried_at, created_at, updated_at)
     select $1 || i, $2, case when i % 3 = 0 then 'live' else 'test' end, case when $4 then 'captured' else 'pending' end, 100, 'USD', 'api', 'simulator', 'R',
       case when $4 then now() end, now(), now() from generate_series(1, $3::integer) i`,
    [prefix, merchant, count, tried],
  );
const summed = () =>
  database.query(`select merchant_id, mode, status, sum(delta)::integer as n from listing_counts where listing = 'transactions' group by 1, 2, 3 having sum(delta) <> 0 order by 1, 2, 3`);
const counted = () => database.query(`select merchant_id, mode, status, count(*)::integer as n from transactions where tried_at is not null group by 1, 2, 3 order by 1, 2, 3`);
const rows = async (): Promise<number> => Number((await database.query<{ n: string }>('select count(*) as n from listing_counts'))[0]?.n);

test('a bulk load leaves one delta for each group, and untried payments none', async () => {
  const before = await rows();
  await insert('txn_untried', 'mer_a', 30, false);
  expect(await rows()).toBe(before);
  await insert('txn_bulk', 'mer_a', 3000, true);
  expect(await rows()).toBe(before + 2);
  expect(await summed()).toEqual(await counted());
});

test('an update that moves no status leaves no delta', async () => {
  const before = await rows();
  await database.query(`update transactions set description = 'x', updated_at = now() where id like 'txn_bulk%'`);
  expect(await rows()).toBe(before);
});

test('a rolled back move leaves no trace', async () => {
  const before = await summed();
  await db.transaction(async (trx) => {
    await trx.raw(`update transactions set status = 'refunded' where id = 'txn_bulk1'`);
    await trx.rollback();
  }).catch(() => undefined);
  expect(await summed()).toEqual(before);
});

test('the sums stay true while everything moves and four sweeps fold at once', async () => {
  await insert('txn_first', 'mer_b', 60, false);
  let moving = true;
  const folding = Array.from({ length: 4 }, async () => {
    while (moving) await foldListingCounts(db, 11);
  });
  await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const move = { name: 'move', text: `update transactions set status = $2, tried_at = coalesce(tried_at, now()) where id = $1` };
      for (const status of ['processing', 'captured', ...(i % 2 === 0 ? ['partially_refunded', 'refunded'] : [])]) await db.runAlone(move, [`txn_first${i + 1}`, status]);
    }),
  );
  moving = false;
  await Promise.all(folding);
  expect(await summed()).toEqual(await counted());
});

test('folding ends with one row for each group that is not empty, and then has nothing to do', async () => {
  while ((await foldListingCounts(db, 500)) > 0);
  await database.query(`update transactions set status = 'partially_refunded' where id in ('txn_first1', 'txn_first2', 'txn_first3', 'txn_first4')`);
  while ((await foldListingCounts(db, 500)) > 0);
  expect(await summed()).toEqual(await counted());
  expect(await rows()).toBeLessThanOrEqual((await counted()).length + 1);
  expect(await foldListingCounts(db, 500)).toBe(0);
});

test('the migration counts what is there already, and can be taken back', async () => {
  const knex = knexFactory({ client: 'pg', connection: { connectionString: database.url }, pool: { min: 0, max: 1 } });
  try {
    await deltas.down(knex);
    await database.query(`insert into customers (id, merchant_id, mode) select 'cus_' || i, 'mer_a', 'live' from generate_series(1, 5) i`);
    await insert('txn_before', 'mer_b', 9, true);
    await knex.transaction((trx) => deltas.up(trx));
  } finally {
    await knex.destroy();
  }
  expect(await summed()).toEqual(await counted());
  expect(await database.query(`select merchant_id, mode, sum(delta)::integer as n from listing_counts where listing = 'customers' group by 1, 2`)).toEqual([{ merchant_id: 'mer_a', mode: 'live', n: 5 }]);
  expect(await foldListingCounts(db, 500)).toBe(0);
});
