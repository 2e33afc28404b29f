// The API alone on a free port, with a database of its own. Temporal is behind its port, which only notes what it was told:
// what needs a real workflow is tested with the whole stack.
import { createHash, randomUUID } from 'node:crypto';
import { createApp } from '../../api/app.ts';
import type { ApiConfig, ReadinessCheck } from '../../api/deps.ts';
import { startHttp } from '../../api/server.ts';
import { CardRejected, type CardVault, VaultUnavailable } from '../../gateways/vault.ts';
import { makeId } from '../../domain/id.ts';
import { openDatabase, type Database } from '../../models/database.ts';
import { createCallLog } from '../../operations/call-log.ts';
import { createMerchant } from '../../operations/create-merchant.ts';
import type { OperationDeps } from '../../operations/deps.ts';
import { createKeyRing } from '../../platform/key-ring.ts';
import { createLog } from '../../platform/log.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { ulid } from '../../platform/ulid.ts';
import type { DoorCardSetup } from '../../temporal/card-setup-door.ts';
import type { DoorSession, SessionDoor } from '../../temporal/session-door.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

export interface TestMerchant {
  readonly merchantId: string;
  readonly test: string;
  readonly live: string;
  readonly testKeyId: string;
  readonly api: ApiClient;
  readonly liveApi: ApiClient;
}

export interface TestApi {
  readonly port: number;
  readonly url: string;
  readonly databaseUrl: string;
  readonly db: Database;
  readonly sql: TestDatabase['query'];
  readonly operations: OperationDeps;
  readonly started: DoorSession[];
  readonly startedSetups: DoorCardSetup[];
  readonly logs: readonly string[];
  /** Answers of the door to session workflows. */
  endSession: SessionDoor['endSession'];
  /** Where cards of requests go. */
  vault: CardVault;
  addMerchant(): Promise<TestMerchant>;
  flushCalls(): Promise<void>;
  stop(): Promise<void>;
}

export async function startApi(config: Partial<ApiConfig> = {}, readiness: readonly ReadinessCheck[] = []): Promise<TestApi> {
  const database = await createDatabase();
  const db = openDatabase({ url: database.url, poolSize: 20, statementTimeoutMs: 15_000, onConnectionError: () => undefined });
  const logs: string[] = [];
  const log = createLog({ level: 'debug', name: 'api-test', write: (line) => void logs.push(line) });
  const metrics = createMetrics();
  const calls = createCallLog({ db, onDropped: (table, count) => metrics.dropped(table, count), everyMs: 20 });
  const started: DoorSession[] = [];
  const startedSetups: DoorCardSetup[] = [];
  const simulator = { slug: 'simulator', name: 'Simulator', currencies: 'all' } as const;
  const operations: OperationDeps = {
    db,
    keyRing: createKeyRing(['0123456789abcdef0123456789abcdef']),
    newId: (kind) => makeId(kind, ulid),
    publicUrl: 'http://checkout.test',
    offerDeliveries: () => undefined,
    gateways: { find: (slug) => (slug === 'simulator' ? simulator : null), nameOf: () => 'Simulator' },
    checkTarget: async (url) => url,
  };
  const unexpected = async (): Promise<never> => {
    throw new Error('the API never pays');
  };
  const temporal: SessionDoor = {
    startSession: async (session) => void started.push(session),
    resumeSession: unexpected,
    pay: unexpected,
    authenticated: unexpected,
    endSession: (session, to) => fixture.endSession(session, to),
  };
  const app = createApp({
    operations,
    temporal,
    cardSetups: { startCardSetup: async (setup) => void startedSetups.push(setup) },
    money: { ...operations, perform: async () => undefined },
    vault: { keep: (...args) => fixture.vault.keep(...args) },
    config: { trustedProxies: [], publicPostsPerMinute: 60, metricsPort: null, ...config },
    log,
    record: { metrics, calls },
    readiness: [{ name: 'postgres', check: async () => void (await db.run({ name: 'ready', text: 'select 1 as one' }, [])) }, ...readiness],
  });
  const http = await startHttp({ app: app.koa, port: 0, host: '127.0.0.1', log, newRequestId: () => makeId('request', ulid), drainMs: 500 });
  const url = `http://127.0.0.1:${http.port}`;
  const fixture: TestApi = {
    port: http.port,
    url,
    databaseUrl: database.url,
    db,
    sql: database.query,
    operations,
    started,
    startedSetups,
    logs,
    endSession: unexpected,
    vault: fakeVault,
    async addMerchant() {
      const made = await createMerchant(operations, { name: 'Demo Merchant' });
      const client = (key: string): ApiClient => createApiClient(`${url}/api/v1`, key);
      return { merchantId: made.merchantId, test: made.test.key, live: made.live.key, testKeyId: made.test.keyId, api: client(made.test.key), liveApi: client(made.live.key) };
    },
    flushCalls: () => calls.close(),
    async stop() {
      await http.close();
      await app.close();
      await calls.close();
      await db.close();
      await database.drop();
    },
  };
  return fixture;
}

/** Keeps every card but two: 4000 0000 0000 0127 has a wrong CVC, for 4000 0000 0000 0119 nobody answers. */
const fakeVault: CardVault = {
  async keep(gateway, card) {
    const { number } = card.reveal();
    if (number.endsWith('0127')) throw new CardRejected('cvc', 'The security code is not valid.');
    if (number.endsWith('0119')) throw new VaultUnavailable('nobody answered');
    const { brand, last4, expiryMonth, expiryYear } = card;
    return { reference: `kept_${randomUUID()}`, brand, last4, expiryMonth, expiryYear, fingerprint: createHash('sha256').update(`${gateway} ${number}`).digest('hex') };
  },
};

/** The least a session needs. */
export const sessionBody = { amount: 2500, currency: 'USD', success_url: 'https://shop.test/paid', failure_url: 'https://shop.test/failed' } as const;
