// A merchant's payments page by page: page 1 with its true total while the table is small and again at a million rows, and
// a page far behind. One caller, requests of the kinds that are compared in turn.
import pg from 'pg';
import { cpuBetween, readCpu } from '../cpu.ts';
import { percentile } from '../load.ts';
import type { Platform } from '../platform.ts';
import { seedRows, settleTables } from '../seed-rows.ts';
import type { SeededMerchant } from '../seed.ts';
import type { RowParts } from './sides.ts';
import type { Measured } from './single.ts';

const smallRows = 500;
const deepOffset = 250_000;
const perPage = 25;
const reads = 300;

/** @param scale on the rows of the large table: below 1 it is another measurement, for trying the harness */
export async function measureListings(platform: Platform, { shop }: RowParts, scale: number): Promise<Measured> {
  const merchant = shop.merchant('plain');
  const others = shop.merchant('plain');
  const client = new pg.Client({ connectionString: platform.runtime.database_url });
  await client.connect();
  const ask = async (of: SeededMerchant, page: number): Promise<{ ms: number; total: number; rows: number }> => {
    const begun = performance.now();
    const body = (await shop.call(of, `/transactions?limit=${perPage}&page=${page}`, null, 200)) as { data?: object[]; meta?: { total: number } };
    return { ms: performance.now() - begun, total: body.meta?.total ?? 0, rows: body.data?.length ?? 0 };
  };
  const read = async (...kinds: readonly (readonly [SeededMerchant, number])[]): Promise<{ ms: number[]; total: number }[]> => {
    const found = kinds.map(() => ({ ms: [] as number[], total: 0 }));
    for (let n = 0; n < reads + 30; n++) {
      for (const [index, [of, page]] of kinds.entries()) {
        const { ms, total, rows } = await ask(of, page);
        if (rows !== perPage) throw new Error(`page ${page} has ${rows} rows`);
        const kind = found[index];
        if (kind === undefined) continue;
        kind.total = total;
        // The first ones fill caches.
        if (n >= 30) kind.ms.push(ms);
      }
    }
    for (const { ms } of found) ms.sort((a, b) => a - b);
    return found;
  };
  try {
    await seedRows(client, merchant.id, '1', smallRows, 'payments');
    await seedRows(client, others.id, '2', smallRows, 'payments');
    await settleTables(client);
    // The service has just started: its code must be as warm for the small table as for the large one.
    await read([merchant, 1]);
    const [small] = await read([merchant, 1]);
    const large = Math.max(1_000, Math.round(500_000 * scale)) - smallRows;
    await seedRows(client, merchant.id, '3', large, 'payments');
    await seedRows(client, others.id, '4', large, 'payments');
    await settleTables(client);
    const page = Math.min(deepOffset, Math.floor(large / 2)) / perPage + 1;
    const before = readCpu(platform.watched);
    const [first, deep] = await read([merchant, 1], [merchant, Math.floor(page)]);
    const cpu = cpuBetween(before, readCpu(platform.watched));
    if (small === undefined || first === undefined || deep === undefined) throw new Error('nothing was read');
    const p99Ratio = percentile(first.ms, 0.99) / percentile(small.ms, 0.99);
    const deepRatio = percentile(deep.ms, 0.5) / percentile(first.ms, 0.5);
    return {
      row: 'listings',
      title: `page 1 with its total, merchant of ${first.total} in ${2 * (large + smallRows)} rows beside ${small.total} in ${2 * smallRows}; page ${Math.floor(page)}`,
      figures: {
        smallP50Ms: percentile(small.ms, 0.5),
        smallP99Ms: percentile(small.ms, 0.99),
        largeP50Ms: percentile(first.ms, 0.5),
        largeP99Ms: percentile(first.ms, 0.99),
        deepP50Ms: percentile(deep.ms, 0.5),
        deepP99Ms: percentile(deep.ms, 0.99),
        p50Ratio: percentile(first.ms, 0.5) / percentile(small.ms, 0.5),
        foreignShare: cpu.foreignShare,
      },
      goals: [
        { what: 'page 1, p99 of the large table over the small one', value: p99Ratio, limit: 1.3 },
        { what: 'deep page over page 1, p50', value: deepRatio, limit: 5 },
      ],
      notes: [],
    };
  } finally {
    await client.end();
  }
}
