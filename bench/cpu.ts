// CPU and memory of processes as Linux counts them (proc(5)): ours one by one, everything else as foreign. Reads only.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Processes of interest by name; Postgres by its postmaster, whose backends come and go. */
export interface Watched {
  readonly alone: Readonly<Record<string, number>>;
  readonly postmaster: number;
}

/** CPU milliseconds since the processes began, and the machine's. */
export interface CpuReading {
  readonly atMs: number;
  readonly byProcess: Readonly<Record<string, number>>;
  readonly machineBusyMs: number;
}

export interface CpuUse {
  readonly elapsedMs: number;
  /** Milliseconds of CPU by process. */
  readonly byProcess: Readonly<Record<string, number>>;
  readonly totalMs: number;
  /** Share of all cores used by processes that are none of ours, 0 to 1. */
  readonly foreignShare: number;
}

// USER_HZ is 100 on every Linux that Node runs on.
const msPerTick = 10;

interface Stat {
  readonly ppid: number;
  readonly ownTicks: number;
  /** Of children that have ended and were waited for. */
  readonly reapedTicks: number;
}

function readStat(pid: number | string): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ').map(Number);
    const at = (index: number): number => fields[index] ?? 0;
    return { ppid: at(1), ownTicks: at(11) + at(12), reapedTicks: at(13) + at(14) };
  } catch {
    return null;
  }
}

function treeTicks(postmaster: number): number {
  const root = readStat(postmaster);
  let ticks = root === null ? 0 : root.ownTicks + root.reapedTicks;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readStat(name);
    if (stat?.ppid === postmaster) ticks += stat.ownTicks;
  }
  return ticks;
}

export function readCpu(watched: Watched): CpuReading {
  const byProcess: Record<string, number> = { postgres: treeTicks(watched.postmaster) * msPerTick };
  for (const [name, pid] of Object.entries(watched.alone)) byProcess[name] = (readStat(pid)?.ownTicks ?? 0) * msPerTick;
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').split(/\s+/).map(Number);
  return { atMs: performance.now(), byProcess, machineBusyMs: (user + nice + system + irq + softirq + steal) * msPerTick };
}

export function cpuBetween(before: CpuReading, after: CpuReading): CpuUse {
  const byProcess = Object.fromEntries(Object.entries(after.byProcess).map(([name, ms]) => [name, ms - (before.byProcess[name] ?? 0)]));
  const totalMs = Object.values(byProcess).reduce((sum, ms) => sum + ms, 0);
  const elapsedMs = after.atMs - before.atMs;
  const foreignMs = Math.max(0, after.machineBusyMs - before.machineBusyMs - totalMs);
  return { elapsedMs, byProcess, totalMs, foreignShare: foreignMs / (elapsedMs * availableParallelism()) };
}

/** Resident memory in bytes. */
export function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib ?? 0) * 1024;
}
