// Interleaved rounds: the denominators first, then ours, again and again in one run, with the CPU of every process.
// Rounds in which strangers used much of the machine are dropped and counted.
import { setTimeout as pause } from 'node:timers/promises';
import { type CpuUse, cpuBetween, readCpu, type Watched } from './cpu.ts';
import { closedLoad, type LoadResult, median, percentile } from './load.ts';

/** One way to do the work of a row. */
export interface Side<Item = unknown> {
  readonly name: string;
  /** What has to be there before, unmeasured. */
  prepare(count: number): Promise<Item[]>;
  operate(item: Item): Promise<void>;
  /** Measured work that comes after the last answer. */
  finish?(): Promise<void>;
}

export interface Comparison {
  readonly name: string;
  readonly title: string;
  readonly ours: Side;
  /** The first is the denominator of the goals; the others are for comparison. */
  readonly floors: readonly { readonly side: Side; readonly goal: number | null }[];
  /** Our CPU over the floor's at most, or null. */
  readonly cpuGoal: number | null;
  /** Operations of a slice. */
  count(callers: number): number;
}

export interface Slice {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly operations: number;
  readonly errors: number;
  readonly complaints: readonly string[];
  /** Milliseconds of CPU per operation, by process. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** Without the process that asks. */
  readonly cpuTotalMs: number;
  readonly foreignShare: number;
}

export interface Compared {
  readonly row: string;
  readonly title: string;
  readonly callers: number;
  readonly rounds: number;
  readonly dropped: number;
  /** True when every round had too much foreign load: figures of the calmest one. */
  readonly noisy: boolean;
  /** Median foreign share of the kept rounds. */
  readonly foreignShare: number;
  readonly ours: Summary;
  readonly floors: readonly (Summary & Ratio)[];
  readonly all: readonly Round[];
}
export interface Summary extends Omit<Slice, 'complaints' | 'foreignShare'> {
  readonly name: string;
  readonly complaints: readonly string[];
}
export interface Ratio {
  /** Ours per second over its: the median of the rounds. */
  readonly ratio: number;
  readonly ratios: readonly number[];
  readonly goal: number | null;
  readonly cpuRatio: number;
  readonly cpuGoal: number | null;
}
interface Round {
  readonly kept: boolean;
  readonly foreignShare: number;
  readonly slices: Readonly<Record<string, Slice>>;
}

export interface RoundsOptions {
  readonly watched: Watched;
  readonly rounds: number;
  readonly scale: number;
  readonly foreignLimit: number;
}

/** Work that goes on after the answers (marks written in batches, closing of workflows) belongs to the operations that caused it. */
const afterworkMs = 400;

export async function compare(row: Comparison, callers: number, options: RoundsOptions): Promise<Compared> {
  const count = Math.max(callers, Math.round(row.count(callers) * options.scale));
  const sides = [...row.floors.map(({ side }) => side), row.ours];
  // Connections, prepared statements and compiled code of each side.
  for (const side of sides) await runSlice(side, Math.min(count, callers * 4), callers, options.watched);
  const rounds: Round[] = [];
  for (let n = 0; n < options.rounds; n++) {
    const slices: Record<string, Slice> = {};
    for (const side of sides) slices[side.name] = await runSlice(side, count, callers, options.watched);
    const foreignShare = Math.max(...Object.values(slices).map((slice) => slice.foreignShare));
    rounds.push({ kept: foreignShare <= options.foreignLimit, foreignShare, slices });
  }
  return summarise(row, callers, rounds);
}

async function runSlice(side: Side, count: number, callers: number, watched: Watched): Promise<Slice> {
  const items = await side.prepare(count);
  await pause(afterworkMs);
  const before = readCpu(watched);
  const load = await closedLoad(items, callers, (item) => side.operate(item), side.finish === undefined ? undefined : () => side.finish?.() ?? Promise.resolve());
  await pause(afterworkMs);
  return toSlice(load, cpuBetween(before, readCpu(watched)));
}

export function toSlice(load: LoadResult, cpu: CpuUse): Slice {
  const { operations } = load;
  const cpuMs = Object.fromEntries(Object.entries(cpu.byProcess).map(([name, ms]) => [name, ms / operations]));
  return {
    perSecond: (operations * 1000) / load.elapsedMs,
    p50Ms: percentile(load.latenciesMs, 0.5),
    p95Ms: percentile(load.latenciesMs, 0.95),
    p99Ms: percentile(load.latenciesMs, 0.99),
    operations,
    errors: load.errors,
    complaints: load.complaints,
    cpuMs,
    cpuTotalMs: (cpu.totalMs - (cpu.byProcess['load'] ?? 0)) / operations,
    foreignShare: cpu.foreignShare,
  };
}

function summarise(row: Comparison, callers: number, rounds: readonly Round[]): Compared {
  const calm = rounds.filter((round) => round.kept);
  const noisy = calm.length === 0;
  const used = noisy ? rounds.toSorted((a, b) => a.foreignShare - b.foreignShare).slice(0, 1) : calm;
  const slicesOf = (name: string): Slice[] => used.map((round) => round.slices[name] as Slice);
  const ours = slicesOf(row.ours.name);
  return {
    row: row.name,
    title: row.title,
    callers,
    rounds: rounds.length,
    dropped: rounds.length - calm.length,
    noisy,
    foreignShare: median(used.map((round) => round.foreignShare)),
    ours: summary(row.ours.name, ours),
    floors: row.floors.map(({ side, goal }, index) => {
      const floor = slicesOf(side.name);
      const ratios = ours.map((slice, n) => slice.perSecond / (floor[n]?.perSecond ?? Number.NaN));
      const cpuRatio = median(ours.map((slice, n) => slice.cpuTotalMs / (floor[n]?.cpuTotalMs ?? Number.NaN)));
      return { ...summary(side.name, floor), ratio: median(ratios), ratios, goal, cpuRatio, cpuGoal: index === 0 ? row.cpuGoal : null };
    }),
    all: rounds,
  };
}

function summary(name: string, slices: readonly Slice[]): Summary {
  const mid = (pick: (slice: Slice) => number): number => median(slices.map(pick));
  const processes = Object.keys(slices[0]?.cpuMs ?? {});
  return {
    name,
    perSecond: mid((s) => s.perSecond),
    p50Ms: mid((s) => s.p50Ms),
    p95Ms: mid((s) => s.p95Ms),
    p99Ms: mid((s) => s.p99Ms),
    operations: slices.reduce((sum, s) => sum + s.operations, 0),
    errors: slices.reduce((sum, s) => sum + s.errors, 0),
    complaints: [...new Set(slices.flatMap((s) => s.complaints))],
    cpuMs: Object.fromEntries(processes.map((process) => [process, mid((s) => s.cpuMs[process] ?? 0)])),
    cpuTotalMs: mid((s) => s.cpuTotalMs),
  };
}
