// Brings up what is measured: the product by its own `npm start` in a folder of its own, and beside it the floor on the
// same Postgres and Temporal. Both are processes apart from the one that asks.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { readRuntime, type Runtime } from '../cli/runtime-file.ts';
import { createKeyRing, type KeyRing } from '../platform/key-ring.ts';
import type { Watched } from './cpu.ts';

export interface Platform {
  readonly dataDir: string;
  readonly runtime: Runtime;
  /** Origin of the product. */
  readonly origin: string;
  readonly floorOrigin: string;
  /** To make the hidden token of a pay form without drawing the page first. */
  readonly keyRing: KeyRing;
  readonly db: pg.Pool;
  readonly watched: Watched;
  /** Bytes of both databases. */
  sizes(): Promise<{ postgresBytes: number; temporalBytes: number }>;
  versions(): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

const root = resolve(import.meta.dirname, '..');

export async function startPlatform(options: { receiverUrl: string; profile: string | null }): Promise<Platform> {
  const dataDir = mkdtempSync(join(tmpdir(), 'checkout-bench-'));
  const service = startService(dataDir, options.profile);
  let floor: ChildProcess | null = null;
  try {
    const runtime = await untilReady(service, dataDir);
    const bundle = join(dataDir, 'floor.js');
    execFileSync(process.execPath, ['--import', 'tsx', join(root, 'cli/workflow-bundle-child.ts'), join(root, 'bench/floor/workflows.ts'), bundle], { cwd: root });
    floor = spawn(process.execPath, ['--import', 'tsx', join(root, 'bench/floor/main.ts')], {
      cwd: root,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, DATABASE_URL: runtime.database_url, TEMPORAL_ADDRESS: runtime.temporal.address, TEMPORAL_NAMESPACE: runtime.temporal.namespace, BUNDLE: bundle, RECEIVER: options.receiverUrl },
    });
    const floorPort = await portOf(floor);
    const { pids } = runtime;
    const db = new pg.Pool({ connectionString: runtime.database_url, max: 2 });
    return {
      dataDir,
      runtime,
      origin: new URL(runtime.api_url).origin,
      floorOrigin: `http://127.0.0.1:${floorPort}`,
      keyRing: createKeyRing([readFileSync(join(dataDir, 'master.key'), 'utf8').trim()]),
      db,
      watched: { postmaster: pids.postgres ?? 0, alone: { service: pids.service, floor: floor.pid ?? 0, temporal: pids.temporal ?? 0, simulator: pids.simulator ?? 0, load: process.pid } },
      async sizes() {
        const { rows } = await db.query<{ size: string }>('select pg_database_size(current_database()) as size');
        const files = readdirSync(join(dataDir, 'temporal'));
        return { postgresBytes: Number(rows[0]?.size), temporalBytes: files.reduce((sum, file) => sum + statSync(join(dataDir, 'temporal', file)).size, 0) };
      },
      versions: () => readVersions(db, dataDir),
      async stop() {
        await db.end();
        await end(floor);
        await end(service);
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await end(floor);
    await end(service);
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  }
}

function startService(dataDir: string, profile: string | null): ChildProcess {
  const log = openSync(join(dataDir, 'start.log'), 'a');
  if (profile !== null) mkdirSync(profile, { recursive: true });
  const child = spawn(process.execPath, [...(profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`]), ...startArguments()], {
    cwd: root,
    detached: true,
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      PORT: '0',
      TEMPORAL_PORT: '0',
      TEMPORAL_UI_PORT: '0',
      SIMULATOR_PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      WEBHOOK_ALLOW_LOOPBACK: 'true',
      // The load names an address of its own for each customer, as a proxy in front would.
      TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  closeSync(log);
  return child;
}

/** What `npm start` gives to Node, flags included. */
function startArguments(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  const [command, ...args] = scripts.start.split(' ');
  if (command !== 'node') throw new Error('npm start is expected to be one call of node');
  return args;
}

async function untilReady(service: ChildProcess, dataDir: string): Promise<Runtime> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const runtime = readRuntime(dataDir);
    if (runtime !== null) return runtime;
    if (service.exitCode !== null || Date.now() > deadline) throw new Error(`the service did not start:\n${readFileSync(join(dataDir, 'start.log'), 'utf8').slice(-2000)}`);
    await pause(50);
  }
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((found, failed) => {
    child.once('exit', (code) => failed(new Error(`the floor ended with code ${code}`)));
    if (child.stdout !== null) createInterface({ input: child.stdout }).once('line', (line) => found((JSON.parse(line) as { port: number }).port));
  });
}

async function end(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

async function readVersions(db: pg.Pool, dataDir: string): Promise<Record<string, string>> {
  const { rows } = await db.query<{ version: string }>('show server_version').catch(() => ({ rows: [] }));
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  const wanted = ['@temporalio/worker', 'koa', 'pg', 'knex', 'objection', 'undici', 'zod'];
  return {
    node: process.version,
    postgres: (rows[0] as { server_version?: string } | undefined)?.server_version ?? '?',
    temporalCli: readdirSync(join(dataDir, 'temporal')).map((file) => /^cli-(.+)\.db$/.exec(file)?.[1]).find((found) => found !== undefined) ?? '?',
    ...Object.fromEntries(wanted.map((name) => [name, dependencies[name] ?? '?'])),
  };
}
