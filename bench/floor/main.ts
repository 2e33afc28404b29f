// The denominators, in a process of their own: the same servers and libraries with nothing of ours around them. Bare Koa
// and the same SELECT, a bare workflow start, a bare update, a bare signed POST. A child of the bench; ends with it.
import { createHmac } from 'node:crypto';
import { Client } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes, WorkflowIdReusePolicy } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import Koa from 'koa';
import { Pool } from 'undici';
import { type Database, openDatabase, type Statement } from '../../models/database.ts';
import { findSession } from '../../models/checkout-session.ts';
import { findTransaction } from '../../models/transaction.ts';
import { searchAttributes, taskQueues } from '../../temporal/contract.ts';
import { installTemporalRuntime, startWorkers } from '../../workers/worker.ts';

const given = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};
const log = { warn: (fields: object, message: string) => console.error(message, fields), error: (fields: object, message: string) => console.error(message, fields) };
const queuePrefix = 'floor-';
const dayMs = 86_400_000;

const db = openDatabase({ url: given('DATABASE_URL'), poolSize: 8, statementTimeoutMs: 15_000, onConnectionError: (error) => console.error(error.message) });
installTemporalRuntime(log);
const namespace = given('TEMPORAL_NAMESPACE');
const connection = await NativeConnection.connect({ address: given('TEMPORAL_ADDRESS') });
const client = new Client({ connection, namespace });
await startWorkers({ connection, namespace, queuePrefix, bundlePath: given('BUNDLE'), log, activities: { payments: { touch: async () => ({ state: 'approved' }) } } });
const scope = { merchantId: '', mode: 'test' } as const;
const select = await captureSelect((recorder) => findSession(recorder, scope, ''));
const selectPayment = await captureSelect((recorder) => findTransaction(recorder, scope, ''));
const receiver = new Pool(new URL(given('RECEIVER')).origin, { connections: 64 });

const text = defineSearchAttributeKey;
const described = {
  staticSummary: '25.00 USD, test, Bench Store',
  typedSearchAttributes: new TypedSearchAttributes([
    { key: text(searchAttributes.merchantId, 'KEYWORD'), value: 'mer_bench' },
    { key: text(searchAttributes.mode, 'KEYWORD'), value: 'test' },
    { key: text(searchAttributes.paymentStatus, 'KEYWORD'), value: 'open' },
  ]),
};
const start = (id: string, extra: object): Promise<unknown> =>
  client.workflow.start('floorSession', {
    workflowId: id,
    taskQueue: queuePrefix + taskQueues.payments,
    args: [{ sessionId: id, expiresAtMs: Date.now() + dayMs }],
    startDelay: dayMs,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    ...extra,
  });

const read = async (statement: Statement, id: string, merchantId: string): Promise<string> => JSON.stringify((await db.run(statement, [id, merchantId, 'test']))[0]);
const readByKnex = async (statement: Statement, id: string, merchantId: string): Promise<string> => {
  const found = await db.knex.raw<{ rows: object[] }>(statement.text.replaceAll(/\$\d/g, '?'), [id, merchantId, 'test']);
  return JSON.stringify(found.rows[0]);
};

const acts: Readonly<Record<string, (id: string, second: string) => Promise<string>>> = {
  get: (id, merchantId) => read(select, id, merchantId),
  knex: (id, merchantId) => readByKnex(select, id, merchantId),
  payment: (id, merchantId) => read(selectPayment, id, merchantId),
  paymentknex: (id, merchantId) => readByKnex(selectPayment, id, merchantId),
  // Started eagerly by the process whose worker carries it out, and waited for.
  money: async (id) => {
    const handle = await client.workflow.start('floorMoney', { workflowId: id, taskQueue: queuePrefix + taskQueues.payments, args: [{ attemptId: id }], requestEagerStart: true });
    return JSON.stringify(await handle.result());
  },
  start: (id) => start(id, {}).then(() => '{}'),
  described: (id) => start(id, described).then(() => '{}'),
  update: async (id) => JSON.stringify(await client.workflow.getHandle(id).executeUpdate('pay', { args: [{ attemptId: id }], updateId: id })),
  post: async (id) => {
    const body = JSON.stringify({ id, event: 'payment.completed', sent_at_ms: Date.now(), data: { padding: 'x'.repeat(1200) } });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', 'floor').update(`${timestamp}.${body}`).digest('hex');
    const answer = await receiver.request({ path: '/floor', method: 'POST', headers: { 'content-type': 'application/json', 'x-svc-timestamp': timestamp, 'x-svc-signature': signature, 'webhook-id': id }, body });
    await answer.body.dump();
    return '{}';
  },
};

const koa = new Koa();
koa.use(async (ctx) => {
  const [, act = '', id = '', second = ''] = ctx.path.split('/');
  ctx.body = await acts[act]?.(id, second);
  ctx.type = 'application/json';
});
const server = koa.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${JSON.stringify({ port: typeof address === 'object' && address !== null ? address.port : 0 })}\n`);
});
// The bench holds our standard input open; when it is gone, so are we.
process.stdin.resume();
process.stdin.once('end', () => process.exit(0));

/** The very statement of the product, so that both sides stay the same. */
async function captureSelect(ask: (recorder: Database) => Promise<unknown>): Promise<Statement> {
  let seen: Statement | null = null;
  await ask({ run: async (statement: Statement) => ((seen = statement), []) } as unknown as Database);
  if (seen === null) throw new Error('reading ran no statement');
  return seen;
}
