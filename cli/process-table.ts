// Questions about processes we did not start: is this pid alive, and is it the program we think it is? Pids are reused,
// so nothing is ever stopped on its number alone.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The command line of a live process, or null when there is none (a zombie counts as none). */
export function commandLineOf(pid: number): string | null {
  if (!Number.isInteger(pid) || pid <= 1) return null;
  if (process.platform === 'linux') {
    try {
      const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return text === '' ? null : text;
    } catch {
      return null;
    }
  }
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() || null;
  } catch {
    return null;
  }
}

/** Something that differs between two processes that had the same pid one after the other; null when it is not alive. */
export function birthMarkOf(pid: number): string | null {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // Fields after the parenthesised name: state is the 1st, start time the 20th (proc(5)).
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? null : (fields[19] ?? null);
    } catch {
      return null;
    }
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() || null;
  } catch {
    return null;
  }
}

/**
 * Stops a process left over from an earlier run, if its command line contains every word of `mustContain`.
 * @returns true when something was stopped
 */
export async function stopLeftover(pid: number, mustContain: readonly string[], signal: NodeJS.Signals, graceMs: number): Promise<boolean> {
  const isIt = (): boolean => {
    const line = commandLineOf(pid);
    return line !== null && mustContain.every((word) => line.includes(word));
  };
  if (!isIt()) return false;
  const send = (name: NodeJS.Signals): void => {
    try {
      process.kill(pid, name);
    } catch {
      // Gone between the look and the signal.
    }
  };
  send(signal);
  const deadline = Date.now() + graceMs;
  while (isIt()) {
    if (Date.now() > deadline) {
      send('SIGKILL');
      await sleep(200);
      break;
    }
    await sleep(50);
  }
  return true;
}
