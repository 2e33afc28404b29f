// Facts about this installation that outlive its processes: a name, a value.
import type { Database, Statement } from './database.ts';

const readStatement: Statement = { name: 'read-system-fact', text: 'select value from system_facts where name = $1' };
const writeStatement: Statement = {
  name: 'write-system-fact',
  text: `insert into system_facts (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value, updated_at = now()`,
};

export async function readFact(db: Database, name: string): Promise<string | null> {
  const [row] = await db.run<{ value: string }>(readStatement, [name]);
  return row?.value ?? null;
}

export async function writeFact(db: Database, name: string, value: string): Promise<void> {
  await db.runAlone(writeStatement, [name, value]);
}
