// What `npm run bench -- …` may be told. Knows names and defaults; runs nothing.
import { parseArgs } from 'node:util';

export const rowNames = ['get', 'create', 'pay', 'checkout', 'hooked', 'payment', 'charge', 'refund', 'capture', 'void', 'webhooks', 'hanging', 'drain', 'listings', 'page', 'memory'] as const;
export type RowName = (typeof rowNames)[number];

export interface BenchOptions {
  readonly only: readonly RowName[];
  /** Kept and dropped rounds together. */
  readonly rounds: number;
  /** Callers of the closed model. */
  readonly callers: readonly number[];
  /** Factor on the number of operations of a slice. */
  readonly scale: number;
  /** A round in which strangers used more than this share of all cores is dropped. */
  readonly foreignLimit: number;
  /** Where the JSON goes. */
  readonly json: string;
  /** Folder for a CPU profile of the service, or null. */
  readonly profile: string | null;
  /** Paid sessions of the memory row. */
  readonly sessions: number;
}

export const usage = `npm run bench -- [options]
  --only a,b         rows: ${rowNames.join(', ')} (all)
  --rounds N         interleaved rounds of each row (3)
  --callers 1,8,32   callers of the closed model
  --scale X          factor on the operations of a slice (1)
  --foreign X        drop rounds with more than this share of foreign CPU (0.15)
  --sessions N       paid sessions of the memory row (5000)
  --json FILE        where the result goes (.cache/bench/<time>.json)
  --profile DIR      CPU profile of the service into this folder`;

/** @throws Error with one line saying what is wrong */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      callers: { type: 'string', default: '1,8,32' },
      scale: { type: 'string', default: '1' },
      foreign: { type: 'string', default: '0.15' },
      sessions: { type: 'string', default: '5000' },
      json: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const only = values.only === undefined ? [...rowNames] : values.only.split(',').map((name) => toRow(name.trim()));
  return {
    only,
    rounds: positive('rounds', values.rounds),
    callers: values.callers.split(',').map((text) => positive('callers', text)),
    scale: positive('scale', values.scale),
    foreignLimit: positive('foreign', values.foreign),
    sessions: positive('sessions', values.sessions),
    json: values.json ?? `.cache/bench/${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.json`,
    profile: values.profile ?? null,
  };
}

function toRow(name: string): RowName {
  const found = rowNames.find((row) => row === name);
  if (found === undefined) throw new Error(`--only: there is no row "${name}"; there are ${rowNames.join(', ')}`);
  return found;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name}: "${text}" is not a positive number`);
  return value;
}
