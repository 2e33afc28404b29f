// Starting the simulator as a child process, for `npm start` and for tests. The child ends with its parent.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Simulator {
  readonly port: number;
  readonly url: string;
  readonly secret: string;
  readonly process: ChildProcess;
  /** Ends it in order; resolves when it is gone. */
  stop(): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export interface SpawnOptions {
  /** Folder of the ledger, `simulator-ledger.jsonl`; made when missing. */
  readonly dir: string;
  /** 0 or absent: a free one. */
  readonly port?: number;
  /** Absent: a random one, read it from the result. */
  readonly secret?: string;
  /** Base address of the service that gets notifications. */
  readonly notifyUrl?: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));

export function ledgerPath(dir: string): string {
  return join(resolve(dir), 'simulator-ledger.jsonl');
}

/** Resolves when it listens; rejects with what it wrote to stderr when it ends before that. */
export async function spawnSimulator(options: SpawnOptions): Promise<Simulator> {
  const secret = options.secret ?? randomBytes(24).toString('base64url');
  const child = spawn(process.execPath, ['--import', 'tsx', 'simulator/main.ts'], {
    cwd: root,
    // Ctrl-C reaches a whole process group: in one of its own, it is stopped after those who use it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      SIMULATOR_PORT: String(options.port ?? 0),
      SIMULATOR_LEDGER: ledgerPath(options.dir),
      SIMULATOR_NOTIFY_URL: options.notifyUrl ?? '',
      SIMULATOR_SECRET: secret,
      SIMULATOR_PARENT_PIPE: '1',
    },
  });
  const port = await readyPort(child);
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  };
  return { port, url: `http://127.0.0.1:${port}`, secret, process: child, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

function readyPort(child: ReturnType<typeof spawn> & { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream }): Promise<number> {
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-2_000);
  });
  return new Promise((found, failed) => {
    child.once('error', failed);
    child.once('exit', (code) => failed(new Error(complaint.trim() || `the simulator ended with code ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = /^\{"ready":true,"port":(\d+)\}$/.exec(line);
      if (match) found(Number(match[1]));
    });
  });
}
