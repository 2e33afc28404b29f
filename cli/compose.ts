// The composition root: opens connections, builds every part once and hands it to the others. `npm start` runs both roles
// in one process, `npm run api` and `npm run worker` one each.
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { createCardSetupActivities } from '../activities/card-setup.ts';
import { createCheckoutSessionActivities, type GatewayCallRecord } from '../activities/checkout-session.ts';
import { asActivities } from '../activities/failure.ts';
import { createLateCaptureActivities } from '../activities/late-capture.ts';
import { createPaymentActivities } from '../activities/payment.ts';
import { createSweepActivities } from '../activities/sweep.ts';
import { createWebhookActivities } from '../activities/webhook-delivery.ts';
import { createApp, type App } from '../api/app.ts';
import type { ReadinessCheck } from '../api/deps.ts';
import { RateLimited } from '../api/middleware/errors.ts';
import { type RunningHttp, startHttp } from '../api/server.ts';
import { makeId } from '../domain/id.ts';
import type { Gateway } from '../gateways/gateway.ts';
import { createCardVault } from '../gateways/vault.ts';
import { markCardSetupsStarted } from '../models/card-setup.ts';
import { type Database, openDatabase } from '../models/database.ts';
import { markSessionsStarted } from '../models/session-create.ts';
import { countStuckWork } from '../models/stuck-work.ts';
import { type CallLog, createCallLog } from '../operations/call-log.ts';
import type { MoneyDeps } from '../operations/carry-out.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { createCheckoutDoor } from '../pages/checkout/checkout-door.ts';
import type { RecordVault } from '../pages/checkout/timed-vault.ts';
import { createPagesRouter } from '../pages/routes.ts';
import { createCardSetupPages } from '../pages/setup/card-setup-door.ts';
import type { Config } from '../platform/config.ts';
import { createKeyRing, type KeyRing } from '../platform/key-ring.ts';
import type { Log } from '../platform/log.ts';
import { createMetrics, type Metrics, type MetricsServer, startMetricsServer } from '../platform/metrics.ts';
import { ulid } from '../platform/ulid.ts';
import { createCardSetupDoor } from '../temporal/card-setup-door.ts';
import { createDeliveryDoor } from '../temporal/delivery-door.ts';
import { createLookUpDoor } from '../temporal/look-up-door.ts';
import { createPaymentDoor } from '../temporal/payment-door.ts';
import { createSessionDoor, type SessionDoor } from '../temporal/session-door.ts';
import { arePollersThere, isTemporalThere } from '../temporal/readiness.ts';
import { createSettleSignals } from '../temporal/settle-signals.ts';
import { createWebhookSender } from '../webhooks/sender.ts';
import { createTargetCheck } from '../webhooks/url-guard.ts';
import { watchEpoch } from '../workers/epoch-watch.ts';
import { installTemporalRuntime, startWorkers } from '../workers/worker.ts';
import { createBatcher } from './batcher.ts';
import { openGateways } from './gateways.ts';
import { bundledWorkflows } from './workflow-bundle.ts';

export interface ServiceOptions {
  readonly config: Config;
  readonly log: Log;
  readonly databaseUrl: string;
  /** `host:port` */
  readonly temporalAddress: string;
  readonly masterKeys: readonly string[];
  /** null: there is no simulated gateway. */
  readonly simulator: { readonly url: string; readonly secret: string | null } | null;
  readonly roles: { readonly api: boolean; readonly worker: boolean };
  /** Prepended to queue names; for installations that share a namespace. */
  readonly queuePrefix?: string;
  /** Puts something between the parts; only tests that break them on purpose do. No variable of the environment reaches it. */
  readonly wrap?: ServiceWrap;
}

export interface ServiceWrap {
  readonly database?: (db: Database) => Database;
  readonly gateway?: (gateway: Gateway) => Gateway;
  /** What hands leased deliveries to the sender after a commit. */
  readonly offer?: (offer: OperationDeps['offerDeliveries']) => OperationDeps['offerDeliveries'];
}

export interface Service {
  /** null without the API's role. */
  readonly http: RunningHttp | null;
  readonly db: Database;
  readonly operations: OperationDeps;
  readonly client: Client;
  readonly sessions: SessionDoor;
  /** One run of the sweep, now. */
  readonly sweep: () => Promise<Readonly<Record<string, number>>>;
  /** HTTP first, then workers, then what they stand on. */
  stop(): Promise<void>;
}

const poolSize = 20;
const statementTimeoutMs = 15_000;

/** @throws Error when Postgres or Temporal cannot be reached, or with code EADDRINUSE when the port is taken */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, log, roles } = options;
  const queuePrefix = options.queuePrefix ?? '';
  const shutdown = new AbortController();
  const opened = openDatabase({
    url: options.databaseUrl,
    poolSize,
    statementTimeoutMs,
    onConnectionError: (error) => log.warn({ err: error }, 'a database connection broke; it is replaced'),
  });
  const db = options.wrap?.database?.(opened) ?? opened;
  const keyRing: KeyRing = createKeyRing(options.masterKeys);
  const metrics: Metrics = createMetrics({ stuckWork: () => countStuckWork(db) });
  const alert = (kind: string, fields: Readonly<Record<string, string>>): void => {
    metrics.alert(kind);
    log.error({ alert: kind, ...fields }, `alert: ${kind}`);
  };
  const calls: CallLog = createCallLog({ db, onDropped: (table, count) => metrics.dropped(table, count) });
  const temporal = await connectTemporal(options);
  const { client } = temporal;
  const onUnavailable = (error: unknown): void => log.warn({ err: error }, 'Temporal was not reached; the sweep makes up for it');
  const startDelivery = createDeliveryDoor({ client, queuePrefix });
  const sender = createWebhookSender({ db, keyRing, startDelivery, allowLoopback: config.webhookAllowLoopback, log });
  const offer: OperationDeps['offerDeliveries'] = (deliveries) => sender.offer(deliveries);
  const notMarked = (error: unknown): void => log.warn({ err: error }, 'started workflows were not marked; the sweep starts them again');
  const started = createBatcher<string>((ids) => markSessionsStarted(db, ids), notMarked);
  const startedSetups = createBatcher<string>((ids) => markCardSetupsStarted(db, ids), notMarked);
  const sessions = createSessionDoor({ client, queuePrefix, newId: ulid, onStarted: started.add, onUnavailable });
  const cardSetups = createCardSetupDoor({ client, queuePrefix, onStarted: startedSetups.add, onUnavailable });
  // A caller waits for its own settle when the work is done in this process: then starts are eager too.
  const signals = roles.api && roles.worker ? createSettleSignals() : null;
  const payments = createPaymentDoor({ client, queuePrefix, signals, onUnavailable });
  const lookUp = createLookUpDoor({ sessions, payments });
  const { simulator, wrap } = options;
  const gateways = openGateways({ db, keyRing, log, metrics, alert, lookUp, simulator, simulatorLive: config.simulator.live, wrap: wrap?.gateway });
  const operations: OperationDeps = {
    db,
    keyRing,
    newId: (kind) => makeId(kind, ulid),
    publicUrl: config.publicUrl,
    offerDeliveries: options.wrap?.offer?.(offer) ?? offer,
    gateways: gateways.registry,
    checkTarget: createTargetCheck({ allowLoopback: config.webhookAllowLoopback }),
  };
  const money: MoneyDeps = { ...operations, perform: (payment, reserved, waitMs) => payments.carryOut(payment, reserved, waitMs) };
  const sweep = createSweepActivities({ operations, sessions, cardSetups, payments, startDelivery, log });

  const recordGatewayCall = (call: GatewayCallRecord): void => {
    metrics.gatewayCall(call.gateway, call.kind, call.code, call.durationMs);
    calls.recordGatewayCall(call);
  };

  let stopWorkers = async (): Promise<void> => undefined;
  let stopWatch = (): void => undefined;
  if (roles.worker && temporal.native !== null) {
    const workers = await startWorkers({
      connection: temporal.native,
      namespace: config.temporal.namespace,
      queuePrefix,
      bundlePath: await bundledWorkflows(),
      log,
      activities: {
        payments: asActivities({
          ...createCheckoutSessionActivities({
            operations,
            gateways: gateways.registry,
            recordGatewayCall,
            alert,
            signal: shutdown.signal,
          }),
          ...createCardSetupActivities(operations),
          ...createPaymentActivities({
            operations,
            gateways: gateways.registry,
            recordGatewayCall,
            alert,
            settled: (operationId) => signals?.settled(operationId),
            signal: shutdown.signal,
          }),
          ...createLateCaptureActivities({ operations, gateways: gateways.registry, alert, signal: shutdown.signal }),
          ...sweep,
        }),
        webhooks: asActivities(createWebhookActivities({ db, sender })),
      },
    });
    stopWorkers = () => workers.stop();
    stopWatch = await watchEpoch({ client, db, queuePrefix, sweep: () => sweep.sweepOnce(), log });
  }

  let app: App | null = null;
  let http: RunningHttp | null = null;
  if (roles.api) {
    const readiness: ReadinessCheck[] = [
      { name: 'postgres', check: async () => void (await db.runAlone({ name: 'ready', text: 'select 1 as one' }, [])) },
      { name: 'temporal', check: () => isTemporalThere(client) },
      { name: 'workers', check: () => arePollersThere(client, queuePrefix) },
    ];
    const gatewayNotifications = { db, lookUp, log, verifier: gateways.notifications };
    const vault = createCardVault(gateways.registry);
    const recordVault: RecordVault = (call) => recordGatewayCall({ ...call, kind: 'vault', createdAt: new Date() });
    app = createApp({ operations, temporal: sessions, cardSetups, vault, money, config, log, record: { metrics, calls }, readiness, gatewayNotifications }, (limits) =>
      createPagesRouter({
        checkout: createCheckoutDoor({
          operations,
          gateways: gateways.registry,
          temporal: sessions,
          recordVault,
        }),
        setup: createCardSetupPages({ operations, vault, recordVault }),
        keyRing,
        https: config.publicUrl.startsWith('https:'),
        log,
        now: () => new Date(),
        limits: { read: (ctx) => secondsToWait(limits.publicRead(ctx)), post: (ctx, sessionId) => secondsToWait(limits.publicPost(ctx, sessionId)) },
      }),
    );
    http = await startHttp({ app: app.koa, port: config.port, log, newRequestId: () => makeId('request', ulid), drainMs: config.drainMs });
  }
  const metricsServer: MetricsServer | null = config.metricsPort === null ? null : await startMetricsServer(metrics, { port: config.metricsPort });

  return {
    http,
    db,
    operations,
    client,
    sessions,
    sweep: () => sweep.sweepOnce(),
    async stop() {
      stopWatch();
      await http?.close();
      await app?.close();
      const stopping = stopWorkers();
      shutdown.abort();
      await stopping;
      await sender.close();
      await started.close();
      await startedSetups.close();
      await calls.close();
      await metricsServer?.close();
      await gateways.close();
      await temporal.close();
      await db.close();
    },
  };
}

/** null when the call is let through: the pages answer a refusal in HTML. */
async function secondsToWait(limit: Promise<void>): Promise<number | null> {
  try {
    await limit;
    return null;
  } catch (error) {
    if (error instanceof RateLimited) return error.retryAfterSeconds;
    throw error;
  }
}

/** A worker's native connection serves the client too, which is what makes eager starts possible; the API alone takes a plain one. */
async function connectTemporal({ config, roles, log, temporalAddress }: ServiceOptions): Promise<{ client: Client; native: NativeConnection | null; close(): Promise<void> }> {
  const { apiKey, tls, namespace } = config.temporal;
  const common = { address: temporalAddress, ...(apiKey === null ? {} : { apiKey }), ...(tls === null ? {} : { tls: tls === true ? true : tlsOptions(tls) }) };
  if (roles.worker) {
    installTemporalRuntime(log);
    const native = await NativeConnection.connect(common);
    return { client: new Client({ connection: native, namespace }), native, close: () => native.close() };
  }
  const connection = Connection.lazy(common);
  return { client: new Client({ connection, namespace }), native: null, close: () => connection.close() };
}

function tlsOptions(tls: Exclude<Config['temporal']['tls'], true | null>) {
  return {
    ...(tls.serverName === undefined ? {} : { serverNameOverride: tls.serverName }),
    ...(tls.serverRootCaCertificate === undefined ? {} : { serverRootCACertificate: tls.serverRootCaCertificate }),
    ...(tls.clientCertPair === undefined ? {} : { clientCertPair: tls.clientCertPair }),
  };
}
