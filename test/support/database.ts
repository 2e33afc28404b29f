// A database per test file, cloned from a migrated template on the shared server, so that no two files share a row.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { migrate } from '../../cli/migrate.ts';
import { migrationSource } from '../../migrations/index.ts';

const templateName = 'checkout_template';

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  /** One statement through a connection of its own, for assertions. */
  query<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Removes it, clients still connected or not. */
  drop(): Promise<void>;
}

async function onServer<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function named(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}

/** Once per run, by the global setup. */
export async function makeTemplate(serverUrl: string): Promise<void> {
  await onServer(serverUrl, (client) => client.query(`CREATE DATABASE ${templateName}`));
  // A tree without migrations yet is a valid one.
  if ((await migrationSource.getMigrations([])).length > 0) await migrate(named(serverUrl, templateName));
}

/** @param options.empty true for a database without the schema, to test migrations themselves */
export async function createDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const serverUrl = inject('postgresUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(serverUrl, (client) => client.query(`CREATE DATABASE ${name}${options.empty === true ? '' : ` TEMPLATE ${templateName}`}`));
  const url = named(serverUrl, name);
  return {
    name,
    url,
    query: (text, values = []) => onServer(url, async (client) => (await client.query(text, [...values])).rows),
    drop: () => onServer(serverUrl, async (client) => void (await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
  };
}
