// Makes loggers: JSON lines with secrets scrubbed from every one. No module-level logger: composition roots make one
// and hand it (or a child of it) on.
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import pino from 'pino';
import type { Logger } from 'pino';
import type { LogLevel } from './config.ts';
import { scrubJson } from './scrub.ts';

export type Log = Logger;

export interface LogOptions {
  readonly level: LogLevel;
  /** Which process speaks: `api`, `worker`, `start` … */
  readonly name: string;
  /** Write to this file (0600) instead of stdout; at 50 MB the next start keeps it as `.1` and begins anew. */
  readonly file?: string;
  /** Beside the file: warnings and errors as one short line each, for a person at the terminal. */
  readonly terminal?: (line: string) => void;
  /** For tests: takes every line instead of file and stdout. */
  readonly write?: (line: string) => void;
}

const fileLimitBytes = 50_000_000;

/** Times are ISO 8601 UTC; `err` is serialised with its stack and causes, scrubbed like everything else. */
export function createLog(options: LogOptions): Log {
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: { name: options.name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    hooks: { streamWrite: scrubJson },
  };
  if (options.write !== undefined) return pino(settings, { write: options.write });
  if (options.file === undefined) return pino(settings, pino.destination({ dest: 1, sync: false }));
  mkdirSync(dirname(options.file), { recursive: true, mode: 0o700 });
  if (existsSync(options.file) && statSync(options.file).size > fileLimitBytes) renameSync(options.file, `${options.file}.1`);
  const file = pino.destination({ dest: options.file, sync: false, mode: 0o600 });
  const { terminal } = options;
  if (terminal === undefined) return pino(settings, file);
  const brief = { write: (line: string) => terminal(briefly(line)) };
  return pino(settings, pino.multistream([{ level: 'trace', stream: file }, { level: 'warn', stream: brief }]));
}

function briefly(line: string): string {
  try {
    const entry = JSON.parse(line) as { level: string; msg?: string; err?: { message?: string } };
    const because = entry.err?.message === undefined || entry.err.message === entry.msg ? '' : `: ${entry.err.message}`;
    return `${entry.level}: ${entry.msg ?? ''}${because}`;
  } catch {
    return line.trimEnd();
  }
}
