// Runs the Temporal development server as a child of this process, with the settings the service was measured with.
// Architecture: where Temporal comes from.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { startChild } from './child.ts';
import type { Child, Say } from './child.ts';
import type { TemporalCli } from './temporal-cli.ts';
import { freePort } from './port.ts';

export interface RunningTemporal {
  /** host:port of the frontend. */
  readonly address: string;
  readonly uiUrl: string | null;
  readonly pid: number;
  readonly ended: Promise<string>;
  readonly stop: () => Promise<void>;
}

export interface TemporalOptions {
  readonly cli: TemporalCli;
  /** SQLite file that keeps workflows between starts; null keeps them in memory. */
  readonly dbFile: string | null;
  readonly port?: number;
  /** null starts no UI. */
  readonly uiPort?: number | null;
  /** `default` always exists; these are made beside it. */
  readonly namespaces?: readonly string[];
  readonly dynamicConfig?: Readonly<Record<string, string>>;
  readonly logFile: string;
  readonly log: Say;
}

// One node needs no four partitions per task queue (tasks were seen to wait two seconds for the right one), and the
// default poll rates of the history queues add up to noticeable delays. Values are JSON.
const dynamicConfig: Readonly<Record<string, string>> = {
  'matching.numTaskqueueReadPartitions': '1',
  'matching.numTaskqueueWritePartitions': '1',
  'history.transferProcessorMaxPollRPS': '200',
  'history.timerProcessorMaxPollRPS': '200',
  // A local server has no business calling home.
  'frontend.enableServerVersionCheck': 'false',
};

export async function startTemporal(options: TemporalOptions): Promise<RunningTemporal> {
  if (options.dbFile !== null) mkdirSync(dirname(options.dbFile), { recursive: true });
  const port = options.port ?? (await freePort());
  const uiPort = options.uiPort === null ? null : (options.uiPort ?? (await freePort()));
  const namespaces = options.namespaces ?? [];
  const child = await startChild({
    command: options.cli.path,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'warn', '--log-format', 'json'],
      ...(uiPort === null ? ['--headless'] : ['--ui-port', String(uiPort)]),
      ...(options.dbFile === null ? [] : ['--db-filename', options.dbFile, '--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=1']),
      ...Object.entries({ ...dynamicConfig, ...options.dynamicConfig }).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
      ...namespaces.flatMap((name) => ['--namespace', name]),
    ],
    logFile: options.logFile,
    stopSignal: 'SIGTERM',
    graceMs: 15_000,
  });
  const address = `127.0.0.1:${port}`;
  try {
    await untilServing(child, address, ['default', ...namespaces]);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return { address, uiUrl: uiPort === null ? null : `http://localhost:${uiPort}`, pid: child.pid, ended: child.ended, stop: child.stop };
}

async function untilServing(child: Child, address: string, namespaces: readonly string[]): Promise<void> {
  const deadline = Date.now() + 90_000;
  const connection = Connection.lazy({ address });
  try {
    for (;;) {
      if (!child.isRunning()) throw new Error(`The Temporal server ended while starting: ${child.logTail().trim().split('\n').slice(-3).join(' ')}`);
      try {
        await connection.withDeadline(Date.now() + 2_000, async () => {
          for (const namespace of namespaces) await connection.workflowService.describeNamespace({ namespace });
        });
        return;
      } catch (error) {
        if (Date.now() > deadline) throw new Error(`The Temporal server did not answer within 90 seconds: ${(error as Error).message}`);
      }
      await sleep(50);
    }
  } finally {
    await connection.close().catch(() => undefined);
  }
}
