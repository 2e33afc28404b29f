// A role of the service as a real process: started, waited for, killed. Its log goes to a file of its own, which the
// checker reads for secrets.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { startChild } from '../../cli/child.ts';
import { eventually } from '../support/eventually.ts';
import type { FaultPoint } from './fault-points.ts';

export interface RoleProcess {
  readonly role: 'api' | 'worker';
  readonly pid: number;
  readonly isRunning: () => boolean;
  /** UTC milliseconds of its end, null while it runs. */
  readonly endedAtMs: () => number | null;
  readonly ended: Promise<string>;
  /** SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface RoleOptions {
  readonly role: 'api' | 'worker';
  readonly env: NodeJS.ProcessEnv;
  readonly dir: string;
  readonly serial: number;
  /** Kills itself there. */
  readonly point?: FaultPoint;
}

export async function startRole(options: RoleOptions): Promise<RoleProcess> {
  const { role, env, point } = options;
  const entry = point === undefined ? [role === 'api' ? 'api/main.ts' : 'workers/main.ts'] : ['test/chaos/faulty-role.ts', role, point];
  const logFile = join(options.dir, 'logs', `${role}-${options.serial}.log`);
  const child = await startChild({ command: process.execPath, args: ['--import', 'tsx', ...entry], logFile, stopSignal: 'SIGTERM', graceMs: 20_000, env });
  let endedAtMs: number | null = null;
  void child.ended.then(() => {
    endedAtMs = Date.now();
  });
  const ready = `"msg":"${role} is ready"`;
  const isReady = eventually(
    async () => {
      const text = readFileSync(logFile, 'utf8');
      if (!child.isRunning()) return;
      if (!text.includes(ready)) throw new Error(`the ${role} is not ready: ${child.logTail().slice(-600)}`);
      if (role === 'api') await (await request(`http://127.0.0.1:${env['PORT']}/healthz`)).body.dump();
    },
    { withinMs: 60_000, everyMs: 50 },
  );
  try {
    await isReady;
    // Sweeping at its start is enough to reach some points.
    if (!child.isRunning() && point === undefined) throw new Error(`the ${role} ended while starting: ${child.logTail().slice(-600)}`);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    role,
    pid: child.pid,
    isRunning: child.isRunning,
    endedAtMs: () => endedAtMs,
    ended: child.ended,
    async kill() {
      if (!child.isRunning()) return;
      process.kill(child.pid, 'SIGKILL');
      await child.ended;
    },
    stop: child.stop,
  };
}
