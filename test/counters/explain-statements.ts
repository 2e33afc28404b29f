// How many buffers each statement of a running service touches. A prepared statement is explained just before it runs, in
// a transaction that is rolled back, so that it meets the very rows it is about to change.
import pg from 'pg';
import type { Database, Statement } from '../../models/database.ts';

export interface Explained {
  /** Buffers by the statement's name, the most of its runs; statements of Knex by `knex:` and their first table. */
  readonly buffers: ReadonlyMap<string, number>;
  /** Explains a query of Knex that has been seen, with its own values, and forgets it. */
  queriesOfKnex(): Promise<number[]>;
  close(): Promise<void>;
}

/** @param isHot names of statements to look at */
export async function explainStatements(db: Database, databaseUrl: string, isHot: (name: string) => boolean): Promise<Explained> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const buffers = new Map<string, number>();
  const prepared = new Set<string>();
  let knexQueries: { sql: string; bindings: readonly unknown[] }[] = [];
  // One at a time: they share a connection and its transaction.
  let turn: Promise<unknown> = Promise.resolve();

  const touched = async (explain: string, values: unknown[] = []): Promise<number> => {
    let last = 0;
    // The first run of a statement on a connection also reads catalogues.
    for (let n = 0; n < 2; n++) {
      await client.query('begin');
      try {
        const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(explain, values);
        const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {};
        last = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
      } finally {
        await client.query('rollback');
      }
    }
    return last;
  };
  // By a generic plan, as a connection has it after a few runs.
  const explain = async (statement: Statement, values: readonly unknown[]): Promise<void> => {
    if (!prepared.has(statement.name)) {
      await client.query(`prepare "${statement.name}" as ${statement.text}`);
      prepared.add(statement.name);
    }
    const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`;
    const count = await touched(`explain (analyze, buffers, timing off, format json) execute "${statement.name}"${given}`);
    buffers.set(statement.name, Math.max(count, buffers.get(statement.name) ?? 0));
  };
  const first = async (statement: Statement, values: readonly unknown[]): Promise<void> => {
    if (!isHot(statement.name)) return;
    const mine = turn.then(() => explain(statement, values));
    turn = mine.catch(() => undefined);
    await mine;
  };

  await client.query('set plan_cache_mode = force_generic_plan');
  const open = db as { -readonly [Name in keyof Database]: Database[Name] };
  const { run, runAlone } = db;
  open.run = async <Row extends object>(statement: Statement, values: readonly unknown[]) => {
    await first(statement, values);
    return run<Row>(statement, values);
  };
  open.runAlone = async <Row extends object>(statement: Statement, values: readonly unknown[]) => {
    await first(statement, values);
    return runAlone<Row>(statement, values);
  };
  db.knex.on('query', ({ sql, bindings }: { sql: string; bindings?: readonly unknown[] }) => void knexQueries.push({ sql, bindings: bindings ?? [] }));

  return {
    buffers,
    async queriesOfKnex() {
      const taken = knexQueries.filter(({ sql }) => /^\s*select/i.test(sql));
      knexQueries = [];
      const counts: number[] = [];
      for (const { sql, bindings } of taken) counts.push(await touched(`explain (analyze, buffers, timing off, format json) ${sql}`, [...bindings]));
      return counts;
    },
    close: () => client.end(),
  };
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map(element).join(',')}}`);
  return pg.escapeLiteral(plain(value));
}

const element = (value: unknown): string => (value === null ? 'NULL' : `"${plain(value).replaceAll(/["\\]/g, '\\$&')}"`);

function plain(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' ? value : JSON.stringify(value);
}
