// The service in pieces that can be killed one by one: Postgres, the Temporal server, the simulated gateway, API and
// worker processes, each a real one. A stack of its own for every scenario; nothing listens on a well-known port.
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { request } from 'undici';
import { migrate } from '../../cli/migrate.ts';
import { freePort } from '../../cli/port.ts';
import { startPostgres, type RunningPostgres } from '../../cli/postgres.ts';
import { findTemporalCli, userCacheDir } from '../../cli/temporal-cli.ts';
import { startTemporal, type RunningTemporal } from '../../cli/temporal.ts';
import { spawnSimulator, type Simulator } from '../../simulator/spawn.ts';
import type { FaultPoint } from './fault-points.ts';
import { type RoleProcess, startRole } from './role-process.ts';

export interface LedgerEntry {
  readonly type: string;
  readonly id: string;
  readonly key: string;
  readonly reference: string;
  readonly status: string;
  readonly amount: number;
  /** Of a charge. */
  readonly amount_captured: number;
  readonly amount_refunded: number;
  readonly amount_refund_pending: number;
  readonly currency: string;
  readonly created_at: string;
}

export interface ChaosStack {
  readonly dir: string;
  readonly databaseUrl: string;
  readonly temporalAddress: () => string;
  /** Texts that must not turn up anywhere. */
  readonly secrets: string[];
  /** Origin of the API every client is told of. */
  readonly url: string;
  query<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  ledger(): Promise<LedgerEntry[]>;
  /** The simulator's switch, such as `{slug, behaviour, only, times}`. */
  control(setting: object): Promise<void>;
  /** The API on `url`. */
  startApi(): Promise<RoleProcess>;
  /** An API on a port of its own, which tells clients of `url` like the others. */
  startFaultyApi(point: FaultPoint): Promise<RoleProcess & { readonly url: string }>;
  startWorker(point?: FaultPoint): Promise<RoleProcess>;
  readonly temporal: {
    /** SIGKILL; resolves when it is gone. */
    kill(): Promise<void>;
    /** On the same port; `empty` with a new database. */
    start(options?: { empty: boolean }): Promise<void>;
    /** Files of all databases it had. */
    files(): readonly string[];
  };
  stop(): Promise<void>;
}

const say = (): void => undefined;

export async function startChaosStack(): Promise<ChaosStack> {
  const dir = mkdtempSync(join(tmpdir(), 'checkout-chaos-'));
  mkdirSync(join(dir, 'temporal'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const temporalPort = await freePort();
  const cli = await findTemporalCli({ cacheDir: userCacheDir(process.env), path: process.env['PATH'] ?? '', log: say });
  const databases: string[] = [];
  const runTemporal = (): Promise<RunningTemporal> =>
    startTemporal({ cli, dbFile: databases.at(-1) ?? null, port: temporalPort, uiPort: null, logFile: join(dir, 'logs', 'temporal.log'), log: say });
  databases.push(join(dir, 'temporal', 'one.db'));
  let postgres: RunningPostgres;
  let temporal: RunningTemporal;
  let simulator: Simulator;
  [postgres, temporal, simulator] = await Promise.all([startPostgres({ dataDir: dir, log: say }), runTemporal(), spawnSimulator({ dir: join(dir, 'simulator'), notifyUrl: url })]);
  await migrate(postgres.url);
  const pool = new pg.Pool({ connectionString: postgres.url, max: 4, application_name: 'chaos-checker' });
  pool.on('error', say);
  const masterKey = randomBytes(32).toString('base64url');
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    PORT: String(port),
    PUBLIC_URL: url,
    DATA_DIR: dir,
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
    MASTER_KEY: masterKey,
    SIMULATOR_URL: simulator.url,
    SIMULATOR_SECRET: simulator.secret,
    WEBHOOK_ALLOW_LOOPBACK: 'true',
    // Everybody here comes from 127.0.0.1.
    PUBLIC_POSTS_PER_MINUTE: '1000000',
    SHUTDOWN_DRAIN_MS: '1000',
  };
  const roles: RoleProcess[] = [];
  let serial = 0;
  const run = async (role: 'api' | 'worker', changes: NodeJS.ProcessEnv, point?: FaultPoint): Promise<RoleProcess> => {
    serial += 1;
    const started = await startRole({ role, env: { ...env, ...changes }, dir, serial, ...(point === undefined ? {} : { point }) });
    roles.push(started);
    return started;
  };
  return {
    dir,
    databaseUrl: postgres.url,
    temporalAddress: () => `127.0.0.1:${temporalPort}`,
    secrets: [masterKey, simulator.secret, decodeURIComponent(new URL(postgres.url).password)],
    url,
    async query(text, values = []) {
      return (await pool.query(text, [...values])).rows;
    },
    async ledger() {
      const answer = await request(`${simulator.url}/ledger`);
      return ((await answer.body.json()) as { data: LedgerEntry[] }).data;
    },
    async control(setting) {
      const answer = await request(`${simulator.url}/control`, { method: 'POST', body: JSON.stringify(setting) });
      if (answer.statusCode !== 200) throw new Error(`the simulator refused ${JSON.stringify(setting)}: ${await answer.body.text()}`);
      await answer.body.dump();
    },
    startApi: () => run('api', {}),
    async startFaultyApi(point) {
      const own = await freePort();
      const origin = `http://127.0.0.1:${own}`;
      return { ...(await run('api', { PORT: String(own) }, point)), url: origin };
    },
    startWorker: (point) => run('worker', {}, point),
    temporal: {
      async kill() {
        process.kill(temporal.pid, 'SIGKILL');
        await temporal.ended;
      },
      async start(options = { empty: false }) {
        if (options.empty) databases.push(join(dir, 'temporal', `${databases.length + 1}.db`));
        temporal = await runTemporal();
      },
      files: () => databases,
    },
    async stop() {
      await Promise.all(roles.map((role) => role.kill()));
      await pool.end();
      await Promise.all([temporal.stop(), simulator.stop(), postgres.stop()]);
      if (process.env['CHAOS_KEEP'] === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}
