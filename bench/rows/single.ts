// The rows that are held to a number of their own: the page and memory.
import { setTimeout as pause } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import { Pool } from 'undici';
import { cpuBetween, readCpu, residentBytes } from '../cpu.ts';
import { closedLoad, median, percentile } from '../load.ts';
import type { Platform } from '../platform.ts';
import type { OpenSession } from '../shop.ts';
import type { RowParts } from './sides.ts';

export interface Measured {
  readonly row: string;
  readonly title: string;
  readonly figures: Readonly<Record<string, number>>;
  readonly goals: readonly { readonly what: string; readonly value: number; readonly limit: number }[];
  readonly notes: readonly string[];
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
