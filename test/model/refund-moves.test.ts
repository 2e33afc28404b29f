// Beginning a refund while the payment's sums are on the move: what counts is the row as it is once the refund has its turn.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../models/database.ts';
import { beginRefund } from '../../models/refund-moves.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

let database: TestDatabase;
let db: Database;
let other: pg.Client;
beforeAll(async () => {
  database = await createDatabase();
  db = openDatabase({ url: database.url, poolSize: 4, statementTimeoutMs: 15_000, onConnectionError: () => undefined });
  other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await database.query(`insert into merchants (id, name) values ('mer_a', 'mer_a')`);
});
afterAll(async () => {
  await other.end();
  await db.close();
  await database.drop();
});

const insert = (id: string, status: string, captured: number, held: number): Promise<unknown> =>
  database.query(
    `insert into transactions (id, merchant_id, mode, status, amount, amount_captured, amount_refund_pending, currency, source, gateway, receipt_number, tried_at, created_at, updated_at)
     values ($1, 'mer_a', 'test', $2, 1000, $3, $4, 'USD', 'api', 'simulator', 'R', now(), now(), now())`,
    [id, status, captured, held],
  );

const begin = (transactionId: string, amountMinor: number) =>
  beginRefund(
    db,
    { merchantId: 'mer_a', mode: 'test' },
    { id: `rf_${transactionId}`, transactionId, amountMinor, reason: null, orderId: null, metadata: {}, receiptNumber: 'R' },
    null,
    new Date(),
  );

/** Begins a refund that has to wait for `change` to be committed. */
async function beginDuring(id: string, amountMinor: number, change: string) {
  await other.query('begin');
  await other.query(`update transactions set ${change} where id = $1`, [id]);
  const begun = begin(id, amountMinor);
  await eventually(async () => {
    const waiting = await database.query(`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`);
    expect(waiting).toHaveLength(1);
  });
  await other.query('commit');
  return begun;
}

const held = async (id: string): Promise<number> => Number((await database.query<{ held: string }>('select amount_refund_pending as held from transactions where id = $1', [id]))[0]?.held);

test('a refund that waited for the capture holds its part of what was captured', async () => {
  await insert('txn_capture', 'authorized', 0, 0);
  expect(await beginDuring('txn_capture', 400, `status = 'captured', amount_captured = 1000`)).toMatchObject({ begun: true });
  expect(await held('txn_capture')).toBe(400);
});

test('a refund that waited for another to fail takes what that one gave back', async () => {
  await insert('txn_failure', 'captured', 1000, 900);
  expect(await beginDuring('txn_failure', 800, 'amount_refund_pending = 0')).toMatchObject({ begun: true });
  expect(await held('txn_failure')).toBe(800);
});

test('a refund that waited for another to be begun is held to what that one left', async () => {
  await insert('txn_begun', 'captured', 1000, 0);
  expect(await beginDuring('txn_begun', 800, 'amount_refund_pending = 300')).toMatchObject({ begun: false, payment: { allowed: false, remaining: 700 } });
  expect(await held('txn_begun')).toBe(300);
});
