// The rows that are held to a number of their own: webhook latency, the page, memory.
import { setTimeout as pause } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import { Pool } from 'undici';
import { cpuBetween, readCpu, residentBytes } from '../cpu.ts';
import { closedLoad, median, openLoad, percentile } from '../load.ts';
import type { Platform } from '../platform.ts';
import { newFloorId, type OpenSession } from '../shop.ts';
import type { RowParts } from './compared.ts';

export interface Measured {
  readonly row: string;
  readonly title: string;
  readonly figures: Readonly<Record<string, number>>;
  readonly goals: readonly { readonly what: string; readonly value: number; readonly limit: number }[];
  readonly notes: readonly string[];
}

/** Paid checkouts a second of the light load, and how many. */
const lightPerSecond = 8;
const lightCount = 160;

/** From the commit, as the event's row has it, to the arrival at the receiver; open model. */
export async function measureWebhooks(platform: Platform, { shop, floor, receiver }: RowParts): Promise<Measured> {
  const run = async (count: number) => {
    receiver.clear();
    const before = readCpu(platform.watched);
    const load = await openLoad(Array.from({ length: count }), lightPerSecond, async () => shop.pay(await shop.create(shop.merchant('hooked'))));
    await receiver.until((count - load.errors) * 3, 30_000).catch(() => undefined);
    return { load, cpu: cpuBetween(before, readCpu(platform.watched)) };
  };
  await openLoad(Array.from({ length: 40 }), lightPerSecond * 3, async () => void (await floor.post(`/post/${newFloorId()}`, '', {}, 200)));
  const bare = receiver.floorLatenciesMs.toSorted((a, b) => a - b);
  await run(24);
  const { load, cpu } = await run(lightCount);
  const ids = [...receiver.arrivals.keys()];
  const { rows } = await platform.db.query<{ id: string; inserted_ms: string }>('select id, extract(epoch from inserted_at) * 1000 as inserted_ms from events where id = any($1::text[])', [ids]);
  const latencies = rows.map((row) => (receiver.arrivals.get(row.id) ?? 0) - Number(row.inserted_ms)).toSorted((a, b) => a - b);
  const p99 = percentile(latencies, 0.99);
  return {
    row: 'webhooks',
    title: `webhook, commit to receiver, ${lightPerSecond} paid checkouts/s (open model)`,
    figures: {
      delivered: latencies.length,
      p50Ms: percentile(latencies, 0.5),
      p95Ms: percentile(latencies, 0.95),
      p99Ms: p99,
      maxMs: latencies.at(-1) ?? Number.NaN,
      bareSignedPostP50Ms: percentile(bare, 0.5),
      bareSignedPostP99Ms: percentile(bare, 0.99),
      checkoutP50Ms: percentile(load.latenciesMs, 0.5),
      checkoutP99Ms: percentile(load.latenciesMs, 0.99),
      errors: load.errors,
      foreignShare: cpu.foreignShare,
    },
    goals: [
      { what: 'p99 ms', value: p99, limit: 150 },
      { what: 'webhooks missing', value: lightCount * 3 - latencies.length, limit: 0 },
    ],
    notes: load.complaints,
  };
}

/** First byte of the page, and the bytes a browser loads for it: HTML, style sheet and script as they travel. */
export async function measurePage(platform: Platform, { shop }: RowParts): Promise<Measured> {
  const pool = new Pool(platform.origin, { connections: 8 });
  const headers = { 'accept-encoding': 'br', accept: 'text/html' };
  const load = async (path: string): Promise<{ firstByteMs: number; bytes: Buffer; encoding: string }> => {
    const begun = performance.now();
    const answer = await pool.request({ path, method: 'GET', headers });
    const firstByteMs = performance.now() - begun;
    if (answer.statusCode !== 200) throw new Error(`${path.slice(0, 30)} answered ${answer.statusCode}`);
    return { firstByteMs, bytes: Buffer.from(await answer.body.arrayBuffer()), encoding: String(answer.headers['content-encoding']) };
  };
  const sessions = await shop.stock(200, 'plain');
  for (const session of sessions.slice(0, 50)) await load(session.page);
  const firstBytes: number[] = [];
  const before = readCpu(platform.watched);
  await closedLoad(sessions, 1, async (session) => void firstBytes.push((await load(session.page)).firstByteMs));
  const cpu = cpuBetween(before, readCpu(platform.watched));
  firstBytes.sort((a, b) => a - b);
  const page = await load((sessions[0] as OpenSession).page);
  const html = (page.encoding === 'br' ? brotliDecompressSync(page.bytes) : page.bytes).toString('utf8');
  const assets = [...new Set([...html.matchAll(/"(\/assets\/[^"]+\.(?:css|js))"/g)].map((match) => match[1] as string))];
  const loaded = await Promise.all(assets.map(async (path) => ({ path, bytes: (await load(path)).bytes.length })));
  await pool.destroy();
  const totalBytes = page.bytes.length + loaded.reduce((sum, asset) => sum + asset.bytes, 0);
  return {
    row: 'page',
    title: 'checkout page',
    figures: {
      firstByteP50Ms: percentile(firstBytes, 0.5),
      firstByteP99Ms: percentile(firstBytes, 0.99),
      htmlBytes: page.bytes.length,
      totalBytes,
      cpuMsPerPage: (cpu.byProcess['service'] ?? 0) / sessions.length,
      foreignShare: cpu.foreignShare,
    },
    goals: [
      { what: 'first byte p99 ms', value: percentile(firstBytes, 0.99), limit: 50 },
      { what: 'compressed bytes', value: totalBytes, limit: 30_000 },
    ],
    notes: loaded.map(({ path, bytes }) => `${path.split('/').at(-1)} ${bytes} B`),
  };
}

/** Resident memory of the all-in-one process while sessions are paid, webhooks included. */
export async function measureMemory(platform: Platform, { shop }: RowParts, sessions: number): Promise<Measured> {
  const pid = platform.watched.alone['service'] ?? 0;
  const samples: { paid: number; bytes: number }[] = [{ paid: 0, bytes: residentBytes(pid) }];
  let paid = 0;
  const load = await closedLoad(Array.from({ length: sessions }), 16, async () => {
    await shop.pay(await shop.create(shop.merchant(paid % 4 === 0 ? 'hooked' : 'plain')));
    paid++;
    if (paid % 50 === 0) samples.push({ paid, bytes: residentBytes(pid) });
  });
  await pause(3_000);
  const atRest = residentBytes(pid);
  const between = (from: number, to: number): number => median(samples.filter((sample) => sample.paid > from && sample.paid <= to).map((sample) => sample.bytes)) / 1e6;
  // The halves of the last two fifths: with 5,000 sessions, the last 2,000.
  const earlier = between(sessions * 0.6, sessions * 0.8);
  const later = between(sessions * 0.8, sessions);
  const curve = Object.fromEntries(Array.from({ length: 10 }, (_, tenth) => [`mb${tenth + 1}of10`, between((sessions * tenth) / 10, (sessions * (tenth + 1)) / 10)]));
  return {
    row: 'memory',
    title: `resident memory of the all-in-one process, ${sessions} paid sessions`,
    figures: { startMb: (samples[0]?.bytes ?? 0) / 1e6, peakMb: Math.max(...samples.map((sample) => sample.bytes)) / 1e6, restMb: atRest / 1e6, growthMb: later - earlier, paidPerSecond: (load.operations * 1000) / load.elapsedMs, errors: load.errors, ...curve },
    goals: [
      { what: 'MB at the end', value: later, limit: 350 },
      // Garbage comes and goes by some megabytes.
      { what: 'MB more over the last two fifths', value: later - earlier, limit: 10 },
    ],
    notes: load.complaints,
  };
}
