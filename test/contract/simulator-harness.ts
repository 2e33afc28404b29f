// A simulator process for one test file, with its ledger in a folder of its own, and what tests ask it beside the port.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { createSimulatorGateway } from '../../gateways/simulator/gateway.ts';
import type { SimulatorGateway } from '../../gateways/simulator/gateway.ts';
import { ledgerPath, spawnSimulator } from '../../simulator/spawn.ts';
import type { Simulator } from '../../simulator/spawn.ts';

export interface LedgerEntry {
  readonly type: string;
  readonly gateway: string;
  readonly id: string;
  readonly key: string;
  readonly reference: string;
  readonly status: string;
  readonly amount: number;
  readonly amount_captured?: number;
  readonly amount_refunded?: number;
}

export interface SimulatorHarness {
  readonly simulator: Simulator;
  readonly ledgerFile: string;
  connect(slug: 'simulator' | 'simulator_b'): SimulatorGateway;
  /** SIGKILL, then the same ledger, port and secret again. */
  crash(between?: () => Promise<void>): Promise<void>;
  control(body: object): Promise<void>;
  ledger(reference?: string): Promise<LedgerEntry[]>;
  stop(): Promise<void>;
}

export async function startSimulator(options: { notifyUrl?: string } = {}): Promise<SimulatorHarness> {
  const dir = await mkdtemp(join(tmpdir(), 'simulator-test-'));
  const gateways: SimulatorGateway[] = [];
  let simulator = await spawnSimulator({ dir, ...options });
  return {
    get simulator() {
      return simulator;
    },
    ledgerFile: ledgerPath(dir),
    connect(slug) {
      const gateway = createSimulatorGateway({ slug, name: slug, baseUrl: simulator.url, secret: simulator.secret });
      gateways.push(gateway);
      return gateway;
    },
    async crash(between) {
      await simulator.kill();
      await between?.();
      simulator = await spawnSimulator({ dir, port: simulator.port, secret: simulator.secret, ...options });
    },
    async control(body) {
      const answer = await request(`${simulator.url}/control`, { method: 'POST', body: JSON.stringify(body) });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(text);
    },
    async ledger(reference) {
      const answer = await request(`${simulator.url}/ledger${reference === undefined ? '' : `?reference=${encodeURIComponent(reference)}`}`);
      return ((await answer.body.json()) as { data: LedgerEntry[] }).data;
    },
    async stop() {
      await simulator.stop();
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The customer at the challenge page, without a browser; resolves with where it sends the browser. */
export async function finishChallenge(actionUrl: string, decision: 'complete' | 'fail'): Promise<string> {
  const answer = await request(actionUrl, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: `decision=${decision}` });
  await answer.body.dump();
  return String(answer.headers.location ?? '');
}
