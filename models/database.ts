// The one door to Postgres: a pool with Objection on it for transactions, and two pipelined connections for single
// autocommit statements. Nothing else opens a connection.
import knexFactory, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import pg from 'pg';

/** A prepared statement: Postgres parses and plans it once per connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export interface Database {
  /** For Objection queries and transactions; bind models with `Model.query(db.knex)`. */
  readonly knex: Knex;
  /**
   * One autocommit statement on a shared pipelined connection. Only for statements that wait for no row lock: a waiting
   * one would hold up every other statement on its connection.
   */
  run<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** One autocommit statement on a connection of its own: for writes that may wait for a lock. */
  runAlone<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  transaction<Result>(work: (trx: Knex.Transaction) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  /** Milliseconds a statement may run. */
  readonly statementTimeoutMs: number;
  /** Told of connections that broke while idle; they are replaced by themselves. */
  readonly onConnectionError: (error: Error) => void;
}

/** 64-bit integers are amounts, counts and sequences here, all below 2^53, so they are read as numbers. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
    if (oid === pg.types.builtins.INT8) return Number;
    return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
  },
};

const pipelinedConnections = 2;

export function openDatabase(options: DatabaseOptions): Database {
  const connection = {
    connectionString: options.url,
    statement_timeout: options.statementTimeoutMs,
    idle_in_transaction_session_timeout: 30_000,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    types,
  };
  const knex = knexFactory({
    client: 'pg',
    // Knex' types do not know of `types`; it hands the object to pg as it is.
    connection: connection as unknown as Knex.PgConnectionConfig,
    pool: { min: 0, max: Math.max(2, options.poolSize - pipelinedConnections) },
    acquireConnectionTimeout: 5_000,
    // The models map names of rows; conditions and orderings of queries are mapped here. Raw statements are left alone.
    wrapIdentifier: knexSnakeCaseMappers().wrapIdentifier,
  });
  const statements = new pg.Pool({ ...connection, max: Math.max(2, Math.ceil(options.poolSize / 2)), idleTimeoutMillis: 30_000 });
  statements.on('error', options.onConnectionError);
  const pipelines = Array.from({ length: pipelinedConnections }, () => openPipeline(connection, options.onConnectionError));
  let turn = 0;

  return {
    knex,
    async run<Row extends object>(statement: Statement, values: readonly unknown[]) {
      turn = (turn + 1) % pipelines.length;
      const pipeline = pipelines[turn] ?? openPipeline(connection, options.onConnectionError);
      return pipeline.query<Row>(statement, values);
    },
    async runAlone<Row extends object>(statement: Statement, values: readonly unknown[]) {
      const result = await statements.query<Row>({ name: statement.name, text: statement.text, values: [...values] });
      return result.rows;
    },
    transaction: (work) => knex.transaction(work),
    async close() {
      await Promise.all([knex.destroy(), statements.end(), ...pipelines.map((pipeline) => pipeline.close())]);
    },
  };
}

interface Pipeline {
  query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

/** A lazily connected client that is replaced after it broke; statements under way then fail, later ones reconnect. */
function openPipeline(connection: pg.ClientConfig, onError: (error: Error) => void): Pipeline {
  let client: Promise<pg.Client> | null = null;
  const connect = async (): Promise<pg.Client> => {
    const fresh = new pg.Client({ ...connection, pipeline: true } as pg.ClientConfig);
    const drop = (error?: Error): void => {
      client = null;
      if (error !== undefined) onError(error);
    };
    fresh.on('error', drop);
    fresh.on('end', () => drop());
    try {
      await fresh.connect();
    } catch (error) {
      client = null;
      throw error;
    }
    return fresh;
  };
  return {
    async query<Row extends object>(statement: Statement, values: readonly unknown[]) {
      client ??= connect();
      const result = await (await client).query<Row>({ name: statement.name, text: statement.text, values: [...values] });
      return result.rows;
    },
    async close() {
      const open = client;
      client = null;
      if (open !== null) await open.then((c) => c.end()).catch(onError);
    },
  };
}

/** Whether Postgres (or the way to it) failed rather than the statement: the caller may try again later. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  // Class 08 connection, 53 resources, 57P shutdown, 40 rollback, 55P03 lock, 57014 timeout; then socket errors.
  return /^(08|53|57P|40)/.test(code) || ['55P03', '57014', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOENT'].includes(code)
    || /Connection terminated|timeout expired|Timeout acquiring a connection|Client has encountered a connection error|not queryable/i.test(error.message);
}
