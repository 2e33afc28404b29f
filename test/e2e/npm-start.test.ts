// `npm start` as a newcomer and an operator meet it: the welcome, the pasted command, a killed part, Ctrl-C, a second
// start, a killed run, a taken port. Runs the real command on an empty folder; only the ports are its own.
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, inject, it } from 'vitest';
import type { Runtime } from '../../cli/runtime-file.ts';
import { eventually } from '../support/eventually.ts';

const dataDir = mkdtempSync(join(inject('runDir'), 'start-'));
const env = { ...process.env, DATA_DIR: dataDir, PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0', SIMULATOR_PORT: '0', NODE_ENV: 'development', FORCE_COLOR: '0' };
const runs: ChildProcess[] = [];

interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

function run(more: NodeJS.ProcessEnv = {}): Run {
  const child = spawn(process.execPath, ['cli/launch.js', 'cli/start.ts'], { env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] });
  runs.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return { child, output: () => output, ended: new Promise((resolve) => child.once('exit', resolve)) };
}

async function welcome(started: Run): Promise<void> {
  const early = started.ended.then(() => {
    throw new Error(`it ended: ${started.output()}`);
  });
  await Promise.race([early, eventually(() => expect(started.output()).toContain('Ctrl-C stops everything'), { withinMs: 60_000 })]);
}
const runtime = (): Runtime => JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as Runtime;
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
const childrenOf = ({ pids }: Runtime): number[] => [pids.postgres, pids.temporal, pids.simulator].filter((pid) => pid !== undefined);

async function svc(...args: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await promisify(execFile)(process.execPath, ['cli/launch.js', 'cli/svc.ts', ...args, '--json'], { env });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Runs the command of the welcome as it stands there. */
async function pasted(output: string): Promise<Record<string, unknown>> {
  const command = output.slice(output.indexOf('curl -sS'), output.indexOf('  Test card'));
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

afterAll(async () => {
  for (const child of runs) if (child.exitCode === null) child.kill('SIGKILL');
  await eventually(() => expect(runs.every((child) => child.exitCode !== null || child.signalCode !== null)).toBe(true));
  rmSync(dataDir, { recursive: true, force: true });
});

describe.runIf(process.platform === 'linux')('npm start', () => {
  let first: Run;
  let testKey = '';

  it('brings everything up on an empty folder and says how to make a payment', { timeout: 120_000 }, async () => {
    first = run();
    await welcome(first);
    const session = await pasted(first.output());
    expect(session).toMatchObject({ status: 'open', amount: 2500, currency: 'USD' });
    testKey = runtime().demo?.test_key ?? '';
    expect(first.output()).toContain(testKey);
    expect(first.output()).toContain(String(runtime().temporal.ui_url));
  });

  it('keeps what it wrote private', () => {
    for (const name of ['runtime.json', 'master.key', 'demo.json', 'postgres.password', 'logs/service.log']) expect([name, statSync(join(dataDir, name)).mode & 0o077]).toEqual([name, 0]);
  });

  it('is operated by svc, which finds it by its folder', async () => {
    const merchant = await svc('merchant', 'create', '--name', 'Shop');
    expect(merchant).toEqual({ merchant_id: expect.stringMatching(/^mer_/), test_key: expect.stringMatching(/^svc_test_/), live_key: expect.stringMatching(/^svc_live_/) });
    const id = String(merchant['merchant_id']);
    const key = await svc('key', 'create', '--merchant', id, '--mode', 'live');
    expect(key).toEqual({ key_id: expect.stringMatching(/^key_/), key: expect.stringMatching(/^svc_live_/) });
    await svc('key', 'revoke', String(key['key']));
    const shown = JSON.stringify(await svc('merchant', 'show', id));
    expect(shown).toContain(String(key['key_id']));
    expect(shown).not.toContain(String(key['key']));
    expect(await svc('domain', 'add', '--merchant', id, '--hostname', 'Shop.Example', '--kind', 'plugin', '--mode', 'live')).toMatchObject({ hostname: 'shop.example', kind: 'plugin' });
    expect(await svc('endpoint', 'create', '--merchant', id, '--mode', 'test', '--url', 'http://127.0.0.1:9/hook', '--events', 'payment.completed,payment.failed')).toMatchObject({
      events: ['payment.completed', 'payment.failed'],
      secret: expect.stringMatching(/^whsec_/),
    });
  });

  it('refuses a second start on the same folder in one line', async () => {
    const second = run();
    expect(await second.ended).toBe(1);
    expect(second.output().trim()).toMatch(/^DATA_DIR .* is in use by a service that is running \(process \d+\): .*$/);
  });

  it('starts a part again that was killed, in the same place', async () => {
    const before = runtime();
    for (const pid of childrenOf(before)) process.kill(pid, 'SIGKILL');
    await eventually(() => expect(childrenOf(runtime()).filter((pid) => childrenOf(before).includes(pid))).toEqual([]), { withinMs: 40_000 });
    expect(runtime()).toMatchObject({ database_url: before.database_url, temporal: before.temporal, simulator: before.simulator });
    await eventually(async () => expect(await pasted(first.output())).toMatchObject({ status: 'open' }), { withinMs: 30_000 });
  });

  it('stops all it started at Ctrl-C', async () => {
    const children = childrenOf(runtime());
    // A terminal's Ctrl-C comes twice under npm: from the terminal and from npm.
    first.child.kill('SIGINT');
    first.child.kill('SIGINT');
    expect(await first.ended).toBe(0);
    expect(children.filter(isAlive)).toEqual([]);
    expect(existsSync(join(dataDir, 'runtime.json'))).toBe(false);
    await expect(svc('merchant', 'show')).rejects.toThrow();
  });

  it('goes on with the same data, also after a killed run', { timeout: 180_000 }, async () => {
    const second = run();
    await welcome(second);
    expect(runtime().demo?.test_key).toBe(testKey);
    const left = childrenOf(runtime());
    second.child.kill('SIGKILL');
    await second.ended;
    const third = run();
    await welcome(third);
    expect(await pasted(third.output())).toMatchObject({ status: 'open' });
    expect(third.output()).toContain(testKey);
    expect(left.filter(isAlive)).toEqual([]);
    const children = childrenOf(runtime());
    third.child.kill('SIGTERM');
    expect(await third.ended).toBe(0);
    expect(children.filter(isAlive)).toEqual([]);
  });

  it('names the variable of a taken port in one line, and every wrong variable at once', { timeout: 180_000 }, async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const port = String((server.address() as AddressInfo).port);
    for (const name of ['PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'SIMULATOR_PORT']) {
      const refused = run({ [name]: port, DATA_DIR: join(dataDir, 'other') });
      expect(await refused.ended).toBe(1);
      expect(refused.output().trim()).toBe(`Port ${port} is already in use: set ${name} to a free port.`);
    }
    server.close();
    const wrong = run({ PORT: 'x', LOG_LEVEL: 'loud' });
    expect(await wrong.ended).toBe(1);
    expect(wrong.output()).toMatch(/PORT .*\n.*LOG_LEVEL /);
  });
});
