// What every command needs: the database of the environment or of a running `npm start`, spellings people try, and
// output as one JSON object or as lines. Knows no single command.
import { Option } from 'commander';
import type { Command } from 'commander';
import { ulid } from 'ulid';
import { validationError } from '../../domain/errors.ts';
import { makeId } from '../../domain/id.ts';
import type { IdKind } from '../../domain/id.ts';
import { modes } from '../../domain/mode.ts';
import type { Mode, Scope } from '../../domain/mode.ts';
import { openDatabase } from '../../models/database.ts';
import type { Database } from '../../models/database.ts';
import { readConfig } from '../../platform/config.ts';
import type { Config } from '../../platform/config.ts';
import { readRuntime } from '../runtime-file.ts';
import type { Runtime } from '../runtime-file.ts';

export interface Context {
  readonly config: Config;
  readonly db: Database;
  readonly newId: (kind: IdKind) => string;
  /** Of the `npm start` that runs on DATA_DIR, if that is whose database this is. */
  readonly runtime: Runtime | null;
}

/** Values of a command's options, as commander gives them. */
export type Given = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

/** @throws Error when there is no database to talk to */
export async function withContext<Result>(work: (context: Context) => Promise<Result>): Promise<Result> {
  const config = readConfig(process.env, 'tool');
  const runtime = config.databaseUrl === null ? readRuntime(config.dataDir) : null;
  const url = config.databaseUrl ?? runtime?.database_url;
  if (url === undefined) throw new Error(`The service is not running on ${config.dataDir}: start it with "npm start", or set DATABASE_URL (or DATA_DIR).`);
  const db = openDatabase({ url, poolSize: 2, statementTimeoutMs: 15_000, onConnectionError: () => undefined });
  try {
    return await work({ config, db, runtime, newId: (kind) => makeId(kind, ulid) });
  } finally {
    await db.close();
  }
}

/** Adds `--{name}` with its other spellings, which the help leaves out. */
export function addOption(command: Command, name: string, description: string, otherSpellings: readonly string[] = []): Command {
  command.addOption(new Option(`--${name} <${name}>`, description));
  for (const spelling of otherSpellings) command.addOption(new Option(`--${spelling} <${name}>`).hideHelp());
  return command;
}

/** Adds an option that may be given several times or as a list with commas. */
export function addListOption(command: Command, name: string, description: string, otherSpellings: readonly string[] = []): Command {
  command.addOption(new Option(`--${name} <${name}...>`, description));
  for (const spelling of otherSpellings) command.addOption(new Option(`--${spelling} <${name}...>`).hideHelp());
  return command;
}

export function text(given: Given, ...names: readonly string[]): string | undefined {
  const value = names.map((name) => given[name]).find((found) => typeof found === 'string' && found.trim() !== '');
  return typeof value === 'string' ? value.trim() : undefined;
}

export function list(given: Given, ...names: readonly string[]): readonly string[] {
  const values = names.map((name) => given[name]).filter((value) => Array.isArray(value)) as (readonly string[])[];
  return values.flat().flatMap((item) => item.split(',')).map((item) => item.trim()).filter((item) => item !== '');
}

export function required(value: string | undefined, name: string, hint: string): string {
  if (value === undefined) throw validationError([{ path: name, code: 'required', message: `${name} is missing: ${hint}` }]);
  return value;
}

export function modeOf(given: Given): Mode {
  const value = text(given, 'mode') ?? 'test';
  const mode = modes.find((one) => one === value);
  if (mode === undefined) throw validationError([{ path: 'mode', code: 'invalid_value', message: 'mode must be test or live.' }]);
  return mode;
}

/** The merchant named, else the demo merchant of a running `npm start`; with the mode. */
export function scopeOf(given: Given, context: Context): Scope {
  const merchantId = required(text(given, 'merchant', 'merchantId') ?? context.runtime?.demo?.merchant_id, 'merchant', 'give --merchant mer_…');
  return { merchantId, mode: modeOf(given) };
}

/** One JSON object with --json, else the lines. */
export function print(given: Given, object: object, lines: readonly string[]): void {
  process.stdout.write(given['json'] === true ? `${JSON.stringify(object)}\n` : `${lines.join('\n')}\n`);
}
