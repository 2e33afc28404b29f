// `npm run bench`: starts product and floor, measures the wanted rows in one run, prints ratios and writes one JSON.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { openHttp } from './http.ts';
import { readOptions, usage } from './options.ts';
import { type Platform, startPlatform } from './platform.ts';
import { startBenchReceiver } from './receiver.ts';
import { describeCompared, describeMeasured } from './report.ts';
import { compare, type Compared } from './rounds.ts';
import { comparedRows } from './rows/compared.ts';
import type { RowParts } from './rows/sides.ts';
import { measureDrain } from './rows/drain.ts';
import { measureListings } from './rows/listings.ts';
import { measureHanging, measureWebhooks } from './rows/webhooks.ts';
import { measureMemory, measurePage, type Measured } from './rows/single.ts';
import { openShop } from './shop.ts';

if (process.argv.includes('--help')) {
  console.log(usage);
  process.exit(0);
}
const options = readOptions(process.argv.slice(2));
const receiver = await startBenchReceiver();
console.log('Starting the product and the floor …');
const platform = await startPlatform({ receiverUrl: receiver.url, profile: options.profile });
let stopping = false;
const stop = async (): Promise<void> => {
  if (stopping) return;
  stopping = true;
  await platform.stop();
  await receiver.stop();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop().then(() => process.exit(1)));

const startedAt = new Date();
const loadAverage = { before: loadavg(), after: loadavg() };
const compared: Compared[] = [];
const measured: Measured[] = [];
const sizes: Record<string, unknown> = {};
const broken: { row: string; error: string }[] = [];
try {
  const parts: RowParts = { shop: await openShop(platform, receiver.url), floor: openHttp(platform.floorOrigin), receiver };
  for (const row of comparedRows(parts).filter(({ name }) => options.only.some((wanted) => wanted === name))) {
    for (const callers of options.callers) {
      await attempt(`${row.name} at ${callers}`, async () => {
        const result = await compare(row, callers, { watched: platform.watched, rounds: options.rounds, scale: options.scale, foreignLimit: options.foreignLimit });
        compared.push(result);
        console.log(`\n${describeCompared(result)}`);
      });
    }
    sizes[row.name] = await platform.sizes();
  }
  for (const [name, measure] of singles(platform, parts)) {
    if (!options.only.some((wanted) => wanted === name)) continue;
    await attempt(name, async () => {
      const result = await measure();
      measured.push(result);
      console.log(`\n${describeMeasured(result)}`);
    });
    sizes[name] = await platform.sizes();
  }
  loadAverage.after = loadavg();
  const file = {
    startedAt: startedAt.toISOString(),
    commit: git('rev-parse', 'HEAD'),
    changed: git('status', '--porcelain') !== '',
    versions: await platform.versions(),
    machine: { cpu: cpus()[0]?.model ?? '?', cores: availableParallelism(), memoryBytes: totalmem() },
    loadAverage,
    options,
    sizes,
    compared,
    measured,
    broken,
  };
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(options.json, `${JSON.stringify(file, null, 1)}\n`);
  console.log(`\nload average ${loadAverage.before.map((n) => n.toFixed(1)).join(' ')} before, ${loadAverage.after.map((n) => n.toFixed(1)).join(' ')} after; written to ${options.json}`);
  await parts.floor.close();
  await parts.shop.close();
} finally {
  await stop();
}

/** A row that breaks must not take the figures of the others with it. */
async function attempt(row: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    broken.push({ row, error: error instanceof Error ? error.message : String(error) });
    console.log(`\n${row} BROKE: ${broken.at(-1)?.error}`);
    process.exitCode = 1;
  }
}

function singles(on: Platform, parts: RowParts): readonly (readonly [string, () => Promise<Measured>])[] {
  return [
    ['webhooks', () => measureWebhooks(on, parts)],
    ['hanging', () => measureHanging(on, parts)],
    ['drain', () => measureDrain(on, parts, options.rounds)],
    ['listings', () => measureListings(on, parts, options.scale)],
    ['page', () => measurePage(on, parts)],
    ['memory', () => measureMemory(on, parts, options.sessions)],
  ];
}

function git(...args: string[]): string {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return 'unknown';
  }
}
