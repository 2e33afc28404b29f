// The two ways of asking: callers who wait for their answer before the next question (capacity), and a schedule that
// waits for nobody (latency as customers see it, from the scheduled time).
import { setTimeout as pause } from 'node:timers/promises';

export interface LoadResult {
  readonly operations: number;
  readonly errors: number;
  /** First lines of the first few different errors. */
  readonly complaints: readonly string[];
  readonly elapsedMs: number;
  /** Ascending. */
  readonly latenciesMs: readonly number[];
}

interface Tally {
  readonly latencies: number[];
  readonly complaints: Set<string>;
  errors: number;
}

function complain(tally: Tally, error: unknown): void {
  tally.errors++;
  if (tally.complaints.size < 5) tally.complaints.add((error instanceof Error ? error.message : String(error)).slice(0, 200));
}

function finished(tally: Tally, begun: number): LoadResult {
  return {
    operations: tally.latencies.length,
    errors: tally.errors,
    complaints: [...tally.complaints],
    elapsedMs: performance.now() - begun,
    latenciesMs: tally.latencies.toSorted((a, b) => a - b),
  };
}

/** Every item once, by so many callers. @param finish what belongs to the work but comes after the answers */
export async function closedLoad<Item>(items: readonly Item[], callers: number, operate: (item: Item) => Promise<void>, finish?: () => Promise<void>): Promise<LoadResult> {
  const tally: Tally = { latencies: [], complaints: new Set(), errors: 0 };
  const begun = performance.now();
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < items.length) {
      const item = items[next++] as Item;
      const since = performance.now();
      try {
        await operate(item);
        tally.latencies.push(performance.now() - since);
      } catch (error) {
        complain(tally, error);
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  await finish?.();
  return finished(tally, begun);
}

/** One item every `1000 / perSecond` milliseconds, whether earlier ones have been answered or not. */
export async function openLoad<Item>(items: readonly Item[], perSecond: number, operate: (item: Item) => Promise<void>): Promise<LoadResult> {
  const tally: Tally = { latencies: [], complaints: new Set(), errors: 0 };
  const begun = performance.now();
  await Promise.all(
    items.map(async (item, index) => {
      const dueMs = begun + (index * 1000) / perSecond;
      await pause(dueMs - performance.now());
      try {
        await operate(item);
        tally.latencies.push(performance.now() - dueMs);
      } catch (error) {
        complain(tally, error);
      }
    }),
  );
  return finished(tally, begun);
}

/** @param sorted ascending; @param share 0.99 for the 99th percentile */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values.toSorted((a, b) => a - b), 0.5);
}
