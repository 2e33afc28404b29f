// DATA_DIR/runtime.json: what a running `npm start` runs, where, and how to get in. Made when it is ready, removed when
// it stops; a killed one leaves it behind, which the next start uses to end what is left over.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivate, writePrivately } from './data-dir.ts';
import { birthMarkOf, stopLeftover } from './process-table.ts';

export interface Runtime {
  readonly api_url: string;
  readonly public_url: string;
  readonly database_url: string;
  readonly temporal: { readonly address: string; readonly namespace: string; readonly ui_url: string | null };
  readonly simulator: { readonly url: string; readonly secret: string } | null;
  /** Whether endpoints of test keys may be on this machine. */
  readonly webhook_allow_loopback: boolean;
  /** The demo merchant of the first start. */
  readonly demo: DemoMerchant | null;
  /** Process ids: `service` is `npm start` itself; the others are there when it started them. */
  readonly pids: { readonly service: number; readonly postgres?: number; readonly temporal?: number; readonly simulator?: number };
  readonly started_at: string;
}

export interface DemoMerchant {
  readonly merchant_id: string;
  readonly test_key: string;
  readonly live_key: string;
}

interface Stored extends Runtime {
  /** Tells a process from a later one with the same id. */
  readonly births: Readonly<Record<string, string | null>>;
}

const fileOf = (dataDir: string): string => join(dataDir, 'runtime.json');

export function writeRuntime(dataDir: string, runtime: Runtime): void {
  const births = Object.fromEntries(Object.entries(runtime.pids).map(([name, pid]) => [name, birthMarkOf(pid)]));
  writePrivately(fileOf(dataDir), { ...runtime, births } satisfies Stored);
}

/** null when nothing runs on this folder, also when the file is a killed run's. */
export function readRuntime(dataDir: string): Runtime | null {
  const stored = readPrivate<Stored>(fileOf(dataDir));
  return stored !== null && isSame(stored, 'service', stored.pids.service) ? stored : null;
}

export function removeRuntime(dataDir: string): void {
  rmSync(fileOf(dataDir), { force: true });
}

/** Ends what a killed run left behind. Postgres is looked after by its own pid file. */
export async function endLeftovers(dataDir: string, log: (line: string) => void): Promise<void> {
  const stored = readPrivate<Stored>(fileOf(dataDir));
  if (stored === null) return;
  const { temporal, simulator } = stored.pids;
  const known = [
    { name: 'temporal', pid: temporal, words: ['start-dev'] },
    { name: 'simulator', pid: simulator, words: ['simulator/main.ts'] },
  ];
  await Promise.all(
    known.map(async ({ name, pid, words }) => {
      if (pid === undefined || !isSame(stored, name, pid)) return;
      if (await stopLeftover(pid, words, 'SIGTERM', 10_000)) log(`Stopped the ${name} process of an earlier run.`);
    }),
  );
  removeRuntime(dataDir);
}

function isSame(stored: Stored, name: string, pid: number): boolean {
  const born = stored.births[name];
  return typeof born === 'string' && birthMarkOf(pid) === born;
}
