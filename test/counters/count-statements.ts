// Counts what a running service sends to Postgres: prepared statements by name, Knex queries by their first words.
import type { Database, Statement } from '../../models/database.ts';

export interface StatementCount {
  /** What was sent since the last call, in order. */
  take(): string[];
}

/** Wraps the service's own database object; every part of the service calls through it. */
export function countStatements(db: Database): StatementCount {
  let seen: string[] = [];
  const open = db as { -readonly [Name in keyof Database]: Database[Name] };
  const { run, runAlone } = db;
  open.run = <Row extends object>(statement: Statement, values: readonly unknown[]) => {
    seen.push(statement.name);
    return run<Row>(statement, values);
  };
  open.runAlone = <Row extends object>(statement: Statement, values: readonly unknown[]) => {
    seen.push(statement.name);
    return runAlone<Row>(statement, values);
  };
  db.knex.on('query', ({ sql }: { sql: string }) => void seen.push(`knex: ${sql.trim().split(/\s+/).slice(0, 3).join(' ')}`));
  return {
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
  };
}
