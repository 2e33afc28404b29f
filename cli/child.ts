// Owns the life of one child process: its log file, how it is stopped, and that it never outlives us: a small shell
// watches a pipe from this process and stops the child when the pipe breaks, however we died. Knows no product.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';

/** One line for whoever watches the start. */
export type Say = (line: string) => void;

export interface Child {
  readonly pid: number;
  /** Resolves with a short reason when the process has ended, for whatever cause. */
  readonly ended: Promise<string>;
  readonly isRunning: () => boolean;
  /** Asks with `stopSignal`, insists with SIGKILL after `graceMs`; resolves when it is gone. */
  readonly stop: () => Promise<void>;
  /** The end of its log since it was started, at most 4 KiB. */
  readonly logTail: () => string;
}

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  readonly stopSignal: 'SIGINT' | 'SIGTERM';
  /** Milliseconds between asking and insisting. */
  readonly graceMs: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
}

// Ctrl-C reaches a whole process group: children get one of their own, so that we stop them in our order.
export async function startChild(options: ChildOptions): Promise<Child> {
  mkdirSync(dirname(options.logFile), { recursive: true });
  const log = openSync(options.logFile, 'a+', 0o600);
  const logStart = fstatSync(log).size;
  const child = spawn(options.command, [...options.args], {
    detached: true,
    stdio: ['ignore', log, log],
    env: options.env ?? process.env,
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  });
  const logTail = (): string => tailOf(options.logFile, logStart);
  closeSync(log);
  const pid = await spawned(child);
  let running = true;
  const watchdog = watch(pid, options);
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      running = false;
      watchdog.kill('SIGKILL');
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  });
  const stop = async (): Promise<void> => {
    if (!running) return;
    child.kill(options.stopSignal);
    const insist = setTimeout(() => child.kill('SIGKILL'), options.graceMs);
    await ended;
    clearTimeout(insist);
  };
  return { pid, ended, isRunning: () => running, stop, logTail };
}

function spawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child.pid as number));
  });
}

// `read` returns when this process is gone; the child is then asked, and after the same grace killed.
const watchdogScript = 'read -r _; kill -"$2" "$1" 2>/dev/null; n=0; while kill -0 "$1" 2>/dev/null && [ $n -lt "$3" ]; do sleep 1; n=$((n+1)); done; kill -KILL "$1" 2>/dev/null';

function watch(pid: number, options: ChildOptions): ChildProcess {
  const seconds = Math.ceil(options.graceMs / 1000);
  const watchdog = spawn('/bin/sh', ['-c', watchdogScript, 'watchdog', String(pid), options.stopSignal.slice(3), String(seconds)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.on('error', () => undefined);
  watchdog.stdin.on('error', () => undefined);
  watchdog.unref();
  // The pipe must not keep the event loop alive by itself.
  (watchdog.stdin as unknown as { unref?: () => void }).unref?.();
  return watchdog;
}

function tailOf(file: string, from: number): string {
  const fd = openSync(file, 'r');
  try {
    const size = fstatSync(fd).size;
    const start = Math.max(from, size - 4096);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    readSync(fd, buffer, 0, buffer.length, start);
    return buffer.toString('utf8');
  } finally {
    closeSync(fd);
  }
}
