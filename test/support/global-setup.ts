// Starts what all system tests share, once per run: a throw-away Postgres with a migrated template database and a
// Temporal server in memory. Addresses reach the tests through `inject`; nothing listens on a well-known port.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../cli/postgres.ts';
import { findTemporalCli, userCacheDir } from '../../cli/temporal-cli.ts';
import { startTemporal } from '../../cli/temporal.ts';
import { makeTemplate } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Connection string of the maintenance database of the shared server. */
    postgresUrl: string;
    /** host:port of the shared Temporal server. */
    temporalAddress: string;
    /** Folder that goes away with the run. */
    runDir: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runDir = mkdtempSync(join(tmpdir(), 'checkout-tests-'));
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const parts = await Promise.allSettled([
    startPostgres({ dataDir: runDir, log, disposable: true }).then(async (postgres) => {
      await makeTemplate(postgres.url);
      return postgres;
    }),
    findTemporalCli({ cacheDir: userCacheDir(process.env), path: process.env['PATH'] ?? '', log }).then((cli) =>
      startTemporal({
        cli,
        dbFile: null,
        uiPort: null,
        // Each stack registers a namespace of its own and uses it at once.
        dynamicConfig: { 'system.namespaceCacheRefreshInterval': '"1s"' },
        logFile: join(runDir, 'logs', 'temporal.log'),
        log,
      }),
    ),
  ]);
  const stop = async (): Promise<void> => {
    await Promise.all(parts.map(async (part) => (part.status === 'fulfilled' ? part.value.stop() : undefined)));
    rmSync(runDir, { recursive: true, force: true });
  };
  const [postgres, temporal] = parts;
  if (postgres.status === 'rejected' || temporal.status === 'rejected') {
    await stop();
    throw postgres.status === 'rejected' ? postgres.reason : (temporal as PromiseRejectedResult).reason;
  }
  project.provide('postgresUrl', postgres.value.url);
  project.provide('temporalAddress', temporal.value.address);
  project.provide('runDir', runDir);
  return stop;
}
