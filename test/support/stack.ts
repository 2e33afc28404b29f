// The whole product in one test file: API, pages and workers in this process on a free port, with a database, a Temporal
// namespace and a simulated gateway of its own. Composed by the same root as `npm start`.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { startService } from '../../cli/compose.ts';
import type { Service } from '../../cli/compose.ts';
import { freePort } from '../../cli/port.ts';
import { createMerchant } from '../../operations/create-merchant.ts';
import { readConfig } from '../../platform/config.ts';
import { createLog } from '../../platform/log.ts';
import { spawnSimulator } from '../../simulator/spawn.ts';
import type { Simulator } from '../../simulator/spawn.ts';
import { createApiClient } from './api-client.ts';
import type { ApiClient } from './api-client.ts';
import { createDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { createNamespace } from './temporal-namespace.ts';
import type { TestNamespace } from './temporal-namespace.ts';

export interface StackOptions {
  /** Environment variables over those of the stack, such as PUBLIC_POSTS_PER_MINUTE. */
  readonly env?: NodeJS.ProcessEnv;
  /** Both by default. */
  readonly roles?: { readonly api: boolean; readonly worker: boolean };
}

export interface TestMerchant {
  readonly merchantId: string;
  readonly testKey: string;
  readonly liveKey: string;
  /** With the test key. */
  readonly api: ApiClient;
}

export interface Stack {
  /** Origin of API and pages, such as http://127.0.0.1:4000. */
  readonly url: string;
  /** The first merchant's API with its test key. */
  readonly api: ApiClient;
  readonly merchant: TestMerchant;
  readonly keys: { readonly test: string; readonly live: string };
  /** One more merchant. */
  addMerchant(name?: string): Promise<TestMerchant>;
  readonly db: TestDatabase;
  readonly temporal: TestNamespace;
  readonly simulator: Simulator;
  readonly service: Service;
  /** Every log line so far, as JSON text. */
  readonly logs: readonly string[];
  /** Stops this process' part and starts it anew on the same port and data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const dir = mkdtempSync(join(inject('runDir'), 'stack-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const [db, temporal, simulator] = await Promise.all([createDatabase(), createNamespace(), spawnSimulator({ dir, notifyUrl: url })]);
  const config = readConfig(
    {
      PORT: String(port),
      PUBLIC_URL: url,
      DATA_DIR: dir,
      DATABASE_URL: db.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      MASTER_KEY: randomBytes(32).toString('base64url'),
      SIMULATOR_URL: simulator.url,
      SIMULATOR_SECRET: simulator.secret,
      SIMULATOR_LIVE: 'true',
      WEBHOOK_ALLOW_LOOPBACK: 'true',
      // Every test pays from 127.0.0.1.
      PUBLIC_POSTS_PER_MINUTE: '100000',
      SHUTDOWN_DRAIN_MS: '1000',
      ...options.env,
    },
    'api',
  );
  const logs: string[] = [];
  const log = createLog({ level: config.logLevel, name: 'test', write: (line) => void logs.push(line) });
  const start = (): Promise<Service> =>
    startService({
      config,
      log,
      databaseUrl: db.url,
      temporalAddress: temporal.address,
      masterKeys: config.masterKeys,
      simulator: { url: simulator.url, secret: simulator.secret },
      roles: options.roles ?? { api: true, worker: true },
    });
  let service: Service;
  try {
    service = await start();
  } catch (error) {
    await Promise.all([simulator.stop(), db.drop()]);
    throw error;
  }
  const addMerchant = async (name = 'Test Store'): Promise<TestMerchant> => {
    const made = await createMerchant(service.operations, { name });
    return { merchantId: made.merchantId, testKey: made.test.key, liveKey: made.live.key, api: createApiClient(`${url}/api/v1`, made.test.key) };
  };
  const merchant = await addMerchant();
  return {
    url,
    api: merchant.api,
    merchant,
    keys: { test: merchant.testKey, live: merchant.liveKey },
    addMerchant,
    db,
    temporal,
    simulator,
    get service() {
      return service;
    },
    logs,
    async restart() {
      await service.stop();
      service = await start();
    },
    async stop() {
      await service.stop();
      await simulator.stop();
      await db.drop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
