// Runs the Postgres that npm installed, as a child of this process, with data that stays between starts.
// Knows nothing of our schema. Architecture: where Postgres comes from.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startChild } from './child.ts';
import type { Child, Say } from './child.ts';
import { freePort } from './port.ts';
import { canTraverse, postgresHome, postgresUser } from './postgres-binaries.ts';
import type { PostgresUser } from './postgres-binaries.ts';
import { commandLineOf, stopLeftover } from './process-table.ts';

export interface RunningPostgres {
  /** Connection string of the database `checkout`. Carries the password: never print it. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly ended: Promise<string>;
  readonly stop: () => Promise<void>;
}

export interface PostgresOptions {
  /** Our data folder; Postgres keeps to `postgres/` in it, the password to `postgres.password`. */
  readonly dataDir: string;
  /** Any free port when absent. */
  readonly port?: number;
  readonly log: Say;
  /** Throw-away data: no fsync, nothing survives a crash of the machine. For tests only. */
  readonly disposable?: boolean;
}

export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const user = postgresUser();
  const home = postgresHome(user);
  mkdirSync(options.dataDir, { recursive: true });
  const password = keptPassword(join(options.dataDir, 'postgres.password'));
  const folder = dataFolder(options, user);
  await endLeftover(folder, options.log);
  if (!existsSync(join(folder, 'PG_VERSION'))) initialise(home, folder, password, user, options);
  const port = options.port ?? (await freePort());
  const child = await startChild({
    command: join(home, 'bin', 'postgres'),
    args: ['-D', folder, '-p', String(port), ...settings(options)],
    logFile: join(options.dataDir, 'logs', 'postgres.log'),
    // SIGINT is Postgres' fast shutdown: it does not wait for clients to leave.
    stopSignal: 'SIGINT',
    graceMs: 15_000,
    env: { ...process.env, LC_MESSAGES: 'C' },
    ...(user === null ? {} : user),
  });
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/checkout`;
  try {
    await untilAnswering(child, url);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return { url, port, pid: child.pid, ended: child.ended, stop: child.stop };
}

function settings(options: PostgresOptions): string[] {
  const list = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200', 'timezone=UTC', 'log_min_messages=warning', 'log_statement=none', 'log_parameter_max_length_on_error=0'];
  // A failing statement's text can carry row values: keep it out of the log.
  list.push('log_min_error_statement=panic');
  if (options.disposable === true) list.push('fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum_naptime=60s');
  return list.flatMap((setting) => ['-c', setting]);
}

function keptPassword(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

// Postgres' own user must be able to walk to its data. Where our folder is private to root (/root/...), the data goes to
// a place named after that folder instead.
function dataFolder(options: PostgresOptions, user: PostgresUser | null): string {
  const folder = join(resolve(options.dataDir), 'postgres');
  if (user === null) return folder;
  if (statSync(options.dataDir).uid === 0) chmodSync(options.dataDir, statSync(options.dataDir).mode | 0o011);
  if (canTraverse(options.dataDir, user)) return folder;
  const name = createHash('sha256').update(resolve(options.dataDir)).digest('hex').slice(0, 16);
  const elsewhere = join('/var/lib/payment-checkout-service', name);
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 });
  options.log(`Postgres cannot reach ${options.dataDir} as its own user: its data is kept in ${elsewhere}`);
  return join(elsewhere, 'postgres');
}

// Built beside and renamed, so that an interrupted initdb is begun again and not taken for a database.
function initialise(home: string, folder: string, password: string, user: PostgresUser | null, options: PostgresOptions): void {
  options.log('Preparing a new Postgres database …');
  const building = `${folder}.new`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { recursive: true, mode: 0o700 });
  const passwordFile = join(building, '..', 'postgres.initdb');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user !== null) {
    chownSync(building, user.uid, user.gid);
    chownSync(passwordFile, user.uid, user.gid);
  }
  try {
    execFileSync(
      join(home, 'bin', 'initdb'),
      ['-D', building, '-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8', '--locale=C', ...(options.disposable === true ? ['--no-sync'] : [])],
      { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, LC_ALL: 'C' }, ...(user === null ? {} : user) },
    );
  } catch (error) {
    const said = (error as { stderr?: Buffer }).stderr?.toString('utf8').trim() ?? '';
    throw new Error(`Postgres could not be prepared in ${folder}: ${said || (error as Error).message}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(building, folder);
}

// A killed run may leave its server behind, still closing or still serving; two on one folder must never be.
async function endLeftover(folder: string, log: Say): Promise<void> {
  const pidFile = join(folder, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  const line = commandLineOf(pid);
  if (line !== null && line.includes('postgres') && line.includes(folder)) {
    log('Stopping the Postgres of an earlier run …');
    await stopLeftover(pid, ['postgres', folder], 'SIGINT', 20_000);
  }
  // Its own check would take a stranger with the same pid for a server; ours has looked at the command line.
  rmSync(pidFile, { force: true });
}

async function untilAnswering(child: Child, url: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  const maintenance = url.replace(/\/checkout$/, '/postgres');
  for (;;) {
    if (!child.isRunning()) throw new Error(`Postgres ended while starting: ${child.logTail().trim().split('\n').slice(-3).join(' ')}`);
    const client = new pg.Client({ connectionString: maintenance, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = 'checkout'");
      if (rowCount === 0) await client.query('CREATE DATABASE checkout');
      return;
    } catch (error) {
      const code = (error as { code?: string }).code;
      if (code === '28P01') throw new Error('The password in DATA_DIR does not fit the database there: restore postgres.password, or begin with an empty DATA_DIR.');
      if (Date.now() > deadline) throw new Error(`Postgres did not answer within a minute: ${(error as Error).message}`);
    } finally {
      await client.end().catch(() => undefined);
    }
    await sleep(50);
  }
}
