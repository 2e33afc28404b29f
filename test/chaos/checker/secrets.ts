// V9: no card number, security code, API key or signing secret in any row of Postgres, in Temporal's histories and its
// files, in logs, in the ledger or in error bodies. Searched by the markers this run itself seeded.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { testCards } from '../../../domain/card.ts';
import type { World } from '../world.ts';
import type { Violation } from './checker.ts';

/** With the spaces and dashes people type. */
const numbers = testCards.map(({ number }) => ({ name: `card number ending ${number.slice(-4)}`, pattern: new RegExp([...number].join('[ -]?')) }));
// Three digits turn up everywhere; what gives a security code away is its name before them.
const named = [{ name: 'a security code', pattern: /(?:cvc|cvv|csc)["'\s:=\\]{1,6}\d{3,4}\b/i }];

/** Histories are many and alike. */
const maxHistories = 60;

export async function checkSecrets(world: World): Promise<Violation[]> {
  const { stack } = world;
  const violations: Violation[] = [];
  const found = new Set<string>();
  const search = (where: string, text: string): void => {
    const report = (what: string): void => {
      if (found.has(where + what)) return;
      found.add(where + what);
      violations.push({ invariant: 'V9', what: `${what} in ${where}` });
    };
    for (const secret of stack.secrets) if (text.includes(secret)) report(`${secret.slice(0, 9)}…`);
    for (const { name, pattern } of [...numbers, ...named]) if (pattern.test(text)) report(name);
  };

  const tables = await stack.query<{ name: string }>(`select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`);
  for (const { name } of tables) {
    for (const { text } of await stack.query<{ text: string }>(`select t::text as text from "${name}" t`)) search(`table ${name}`, text);
  }
  const logs = join(stack.dir, 'logs');
  for (const file of readdirSync(logs)) search(`log ${file}`, readFileSync(join(logs, file), 'utf8'));
  for (const body of world.errorBodies) search('an error body', body);
  search('the ledger', JSON.stringify(await stack.ledger()));
  for (const file of stack.temporal.files()) search(`Temporal's file`, readFileSync(file, 'latin1'));
  for (const text of await histories(stack.temporalAddress())) search('a workflow history', text);
  return violations;
}

async function histories(address: string): Promise<string[]> {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection });
  try {
    const texts: string[] = [];
    for await (const execution of client.workflow.list()) {
      const history = await client.workflow.getHandle(execution.workflowId, execution.runId).fetchHistory();
      texts.push(textOf(history) + JSON.stringify(execution.memo ?? {}));
      if (texts.length >= maxHistories) break;
    }
    return texts;
  } finally {
    await connection.close();
  }
}

/** Everything readable in a history, payload bytes decoded. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return `${Buffer.from(value).toString('utf8')}\n`;
  if (Array.isArray(value)) return value.map(textOf).join('');
  if (typeof value === 'object' && value !== null) return Object.values(value).map(textOf).join('');
  return typeof value === 'string' ? `${value}\n` : '';
}
