// A backlog of webhooks for three fast receivers, sent by the product's own sender, beside bare signed POSTs of the same
// bodies, 64 at once. Both sides run in this process without HTTP in front; the receivers are a process of their own.
import { createHmac, randomBytes } from 'node:crypto';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Pool } from 'undici';
import { cpuBetween, readCpu } from '../cpu.ts';
import { closedLoad, median } from '../load.ts';
import type { Platform } from '../platform.ts';
import { type Database, openDatabase, type Statement } from '../../models/database.ts';
import { takeOverdueDeliveries } from '../../models/delivery.ts';
import type { LeasedDelivery } from '../../models/outbox.ts';
import { createWebhookSender } from '../../webhooks/sender.ts';
import type { RowParts } from './sides.ts';
import type { Measured } from './single.ts';

const receivers = 3;
const backlog = 3_000;
const atOnce = 64;

export async function measureDrain(platform: Platform, { shop }: RowParts, rounds: number): Promise<Measured> {
  const { child, url } = await startReceivers();
  const db = openDatabase({ url: platform.runtime.database_url, poolSize: 8, statementTimeoutMs: 15_000, onConnectionError: () => undefined });
  const failures: string[] = [];
  const log = { warn: (_: object, message?: string) => void failures.push(String(message)), error: (_: object, message?: string) => void failures.push(String(message)) };
  const sender = createWebhookSender({ db, keyRing: platform.keyRing, allowLoopback: true, log: log as never, startDelivery: async () => undefined });
  const pool = new Pool(url, { connections: atOnce });
  const merchant = shop.merchant('plain');
  const endpoints: string[] = [];
  try {
    for (let n = 0; n < receivers; n++) endpoints.push(String((await shop.call(merchant, '/webhook-endpoints', { url: `${url}/${n}`, events: ['payment.completed'] }, 201))['id']));
    const bare: number[] = [];
    const ours: number[] = [];
    const foreign: number[] = [];
    let delivered = 0;
    for (let round = 0; round < rounds + 1; round++) {
      const before = readCpu(platform.watched);
      const posts = await closedLoad(Array.from({ length: backlog }), atOnce, async () => {
        const timestamp = String(Math.floor(Date.now() / 1000));
        const signature = createHmac('sha256', 'floor').update(`${timestamp}.${body}`).digest('hex');
        const answer = await pool.request({ path: '/0', method: 'POST', headers: { 'content-type': 'application/json', 'x-svc-timestamp': timestamp, 'x-svc-signature': signature }, body });
        await answer.body.dump();
      });
      const leased = await addBacklog(platform, merchant.id, endpoints);
      const begun = performance.now();
      sender.offer(leased);
      await sender.idle();
      const elapsedMs = performance.now() - begun;
      // The first round opens connections.
      if (round === 0) continue;
      bare.push((posts.operations * 1000) / posts.elapsedMs);
      ours.push((leased.length * 1000) / elapsedMs);
      foreign.push(cpuBetween(before, readCpu(platform.watched)).foreignShare);
      delivered += leased.length;
    }
    const { rows } = await platform.db.query<{ n: number }>(`select count(*)::integer as n from deliveries where endpoint_id = any($1::text[]) and status <> 'delivered'`, [endpoints]);
    const ratios = ours.map((rate, n) => rate / (bare[n] ?? Number.NaN));
    return {
      row: 'drain',
      title: `webhook drain, ${backlog} waiting for ${receivers} fast receivers, beside bare signed POSTs, ${atOnce} at once`,
      figures: { oursPerSecond: median(ours), barePerSecond: median(bare), ratio: median(ratios), delivered, undelivered: rows[0]?.n ?? 0, foreignShare: median(foreign) },
      goals: [
        { what: 'bare signed POSTs for one delivery', value: 1 / median(ratios), limit: 1 / 0.4 },
        { what: 'undelivered', value: rows[0]?.n ?? 0, limit: 0 },
      ],
      notes: [...new Set(failures)].slice(0, 5),
    };
  } finally {
    await sender.close();
    await pool.destroy();
    await platform.db.query('update webhook_endpoints set enabled = false where id = any($1::text[])', [endpoints]);
    await db.close();
    child.kill();
  }
}

const body = JSON.stringify({ event: 'payment.completed', version: 3, data: { padding: 'x'.repeat(1_200) } });

/** Leased to us in the transaction that adds them, so that the product's sweep leaves them alone. */
async function addBacklog(platform: Platform, merchantId: string, endpoints: readonly string[]): Promise<LeasedDelivery[]> {
  const client = await platform.db.connect();
  try {
    await client.query('begin');
    await client.query(backlogSql, [merchantId, randomBytes(6).toString('hex'), body, backlog, endpoints, endpoints.length]);
    const inside = { runAlone: async ({ text }: Statement, values: readonly unknown[]) => (await client.query(text, [...values])).rows as unknown[] };
    const leased = await takeOverdueDeliveries(inside as unknown as Database, backlog);
    await client.query('commit');
    return leased;
  } finally {
    client.release();
  }
}

// Every event a resource of its own, so that none waits for another. Due a second ago: the column rounds to milliseconds.
const backlogSql = `
  with new_events as (
    insert into events (id, merchant_id, mode, type, resource_type, resource_id, sequence, body, created_at)
    select 'evt_' || $2 || i, $1, 'test', 'payment.completed', 'payment', 'txn_' || $2 || i, 1, $3, now() from generate_series(1, $4::integer) i
    returning id, resource_id)
  insert into deliveries (id, event_id, endpoint_id, merchant_id, mode, resource_id, sequence, status, due_at)
  select 'dlv_' || e.id, e.id, ($5::text[])[1 + (row_number() over ()) % $6::integer], $1, 'test', e.resource_id, 1, 'pending', now() - interval '1 second' from new_events e`;

/** A process that answers 200 at once, whatever comes. It ends with its standard input. */
async function startReceivers(): Promise<{ child: ChildProcess; url: string }> {
  const code = `const s = require('node:http').createServer((q, r) => { q.resume(); q.once('end', () => r.writeHead(200).end()); });
    s.keepAliveTimeout = 60000; s.listen(0, '127.0.0.1', () => console.log(s.address().port)); process.stdin.resume(); process.stdin.once('end', () => process.exit());`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await new Promise<string>((found, failed) => {
    child.once('exit', (status) => failed(new Error(`the receivers ended with code ${status}`)));
    createInterface({ input: child.stdout }).once('line', found);
  });
  return { child, url: `http://127.0.0.1:${port}` };
}
