// Brings a database to the newest schema: `npm run migrate`, and the first thing `npm start` does with its own.
// Safe to run from several machines at once and after a killed run.
import { pathToFileURL } from 'node:url';
import knexFactory from 'knex';
import { migrationSource } from '../migrations/index.ts';
import { readConfig } from '../platform/config.ts';
import { complain } from './complain.ts';

// Any number, as long as every release uses the same: the advisory lock of "somebody migrates".
const migrationLock = 7_233_001;

/** @returns the names of the migrations that were applied, in order; empty when there was nothing to do */
export async function migrate(databaseUrl: string): Promise<readonly string[]> {
  const open = (): ReturnType<typeof knexFactory> => knexFactory({ client: 'pg', connection: { connectionString: databaseUrl }, pool: { min: 0, max: 1 } });
  const guard = open();
  const knex = open();
  try {
    return await guard.transaction(async (trx) => {
      await trx.raw('SELECT pg_advisory_xact_lock(?)', [migrationLock]);
      // Knex marks "locked" in a row that outlives a killed process. We hold the real lock, so the mark is stale.
      await knex.migrate.forceFreeMigrationsLock({ migrationSource });
      const [, applied] = (await knex.migrate.latest({ migrationSource })) as [number, string[]];
      return applied;
    });
  } finally {
    await Promise.all([knex.destroy(), guard.destroy()]);
  }
}

async function main(): Promise<void> {
  const config = readConfig(process.env, 'migrate');
  if (config.databaseUrl === null) return;
  const applied = await migrate(config.databaseUrl);
  process.stdout.write(applied.length === 0 ? 'The schema is up to date.\n' : `Applied ${applied.length} migrations, the last ${applied.at(-1)}.\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main().catch(complain);
