// Webhooks from commit to receiver, alone and while a fifth of the receivers never answers. Open model.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CpuUse, cpuBetween, readCpu } from '../cpu.ts';
import { type LoadResult, openLoad, percentile } from '../load.ts';
import type { Platform } from '../platform.ts';
import { newFloorId } from '../shop.ts';
import type { RowParts } from './sides.ts';
import type { Measured } from './single.ts';

/** Paid checkouts a second of the light load, and how many. */
const lightPerSecond = 8;
const lightCount = 160;

interface Light {
  readonly load: LoadResult;
  readonly cpu: CpuUse;
  /** Ascending; from the commit, as the event's row has it, to the arrival. */
  readonly latenciesMs: readonly number[];
}

/** @param answering share of the receivers that answer */
async function lightLoad(platform: Platform, { shop, receiver }: RowParts, count: number, answering = 1): Promise<Light> {
  receiver.clear();
  const before = readCpu(platform.watched);
  const load = await openLoad(Array.from({ length: count }), lightPerSecond, async () => shop.pay(await shop.create(shop.merchant('hooked'))));
  await receiver.until(Math.floor((count - load.errors) * 3 * answering), answering === 1 ? 30_000 : 5_000).catch(() => undefined);
  const cpu = cpuBetween(before, readCpu(platform.watched));
  const ids = [...receiver.arrivals.keys()];
  const { rows } = await platform.db.query<{ id: string; inserted_ms: string }>('select id, extract(epoch from inserted_at) * 1000 as inserted_ms from events where id = any($1::text[])', [ids]);
  const latenciesMs = rows.map((row) => (receiver.arrivals.get(row.id) ?? 0) - Number(row.inserted_ms)).toSorted((a, b) => a - b);
  return { load, cpu, latenciesMs };
}

export async function measureWebhooks(platform: Platform, parts: RowParts): Promise<Measured> {
  const { floor, receiver } = parts;
  receiver.clear();
  await openLoad(Array.from({ length: 40 }), lightPerSecond * 3, async () => void (await floor.post(`/post/${newFloorId()}`, '', {}, 200)));
  const bare = receiver.floorLatenciesMs.toSorted((a, b) => a - b);
  await lightLoad(platform, parts, 24);
  const { load, cpu, latenciesMs } = await lightLoad(platform, parts, lightCount);
  const p99 = percentile(latenciesMs, 0.99);
  return {
    row: 'webhooks',
    title: `webhook, commit to receiver, ${lightPerSecond} paid checkouts/s (open model)`,
    figures: {
      delivered: latenciesMs.length,
      p50Ms: percentile(latenciesMs, 0.5),
      p95Ms: percentile(latenciesMs, 0.95),
      p99Ms: p99,
      maxMs: latenciesMs.at(-1) ?? Number.NaN,
      bareSignedPostP50Ms: percentile(bare, 0.5),
      bareSignedPostP99Ms: percentile(bare, 0.99),
      checkoutP50Ms: percentile(load.latenciesMs, 0.5),
      checkoutP99Ms: percentile(load.latenciesMs, 0.99),
      errors: load.errors,
      foreignShare: cpu.foreignShare,
    },
    goals: [
      { what: 'p99 ms', value: p99, limit: 150 },
      { what: 'webhooks missing', value: lightCount * 3 - latenciesMs.length, limit: 0 },
    ],
    notes: load.complaints,
  };
}

/** The healthy four fifths of the receivers, before and while the others take every webhook and never answer. */
export async function measureHanging(platform: Platform, parts: RowParts): Promise<Measured> {
  const hanging = createServer(() => undefined);
  await new Promise<void>((listening) => hanging.listen(0, '127.0.0.1', listening));
  await lightLoad(platform, parts, 24);
  const without = await lightLoad(platform, parts, lightCount);
  const { rows: changed } = await platform.db.query<{ id: string }>(
    `update webhook_endpoints set url = $1 where id in (select id from (select id, row_number() over (order by id) as n from webhook_endpoints where url = $2) e where n % 5 = 0) returning id`,
    [`http://127.0.0.1:${(hanging.address() as AddressInfo).port}/`, parts.receiver.url],
  );
  try {
    // The first of them hang as endpoints of which nothing is known yet.
    await lightLoad(platform, parts, 24, 0.8);
    const beside = await lightLoad(platform, parts, lightCount, 0.8);
    const ratio = percentile(beside.latenciesMs, 0.99) / percentile(without.latenciesMs, 0.99);
    return {
      row: 'hanging',
      title: `webhook latency while ${changed.length} of 100 receivers hang, ${lightPerSecond} paid checkouts/s (open model)`,
      figures: {
        withoutP50Ms: percentile(without.latenciesMs, 0.5),
        withoutP99Ms: percentile(without.latenciesMs, 0.99),
        healthyP50Ms: percentile(beside.latenciesMs, 0.5),
        healthyP99Ms: percentile(beside.latenciesMs, 0.99),
        healthyDelivered: beside.latenciesMs.length,
        checkoutP99Ms: percentile(beside.load.latenciesMs, 0.99),
        errors: beside.load.errors,
        foreignShare: Math.max(without.cpu.foreignShare, beside.cpu.foreignShare),
      },
      goals: [{ what: 'healthy p99 over p99 without', value: ratio, limit: 1.5 }],
      notes: beside.load.complaints,
    };
  } finally {
    await platform.db.query('update webhook_endpoints set url = $1 where id = any($2::text[])', [parts.receiver.url, changed.map(({ id }) => id)]);
    hanging.closeAllConnections();
    hanging.close();
  }
}
