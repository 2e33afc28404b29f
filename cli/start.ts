// `npm start`: everything on one machine, from an empty folder to a welcome with a command to paste. Order of the start:
// lock, what an earlier run left, ports, infrastructure and workflow bundle side by side, schema, service, demo merchant.
// Order of the stop: HTTP, workers, connections (all in compose), then the children.
import { join } from 'node:path';
import { readConfig } from '../platform/config.ts';
import type { Config } from '../platform/config.ts';
import { createLog } from '../platform/log.ts';
import type { Log } from '../platform/log.ts';
import { complain } from './complain.ts';
import type { Service } from './compose.ts';
import { keepMasterKey, lockDataDir, makeDataDir } from './data-dir.ts';
import { demoMerchant } from './demo.ts';
import { claimPorts, startInfrastructure } from './infrastructure.ts';
import type { Infrastructure } from './infrastructure.ts';
import { migrate } from './migrate.ts';
import { endLeftovers, removeRuntime, writeRuntime } from './runtime-file.ts';
import { onStopSignal } from './shutdown.ts';
import { welcomeText } from './welcome.ts';
import { bundledWorkflows } from './workflow-bundle.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Running {
  infrastructure: Infrastructure | null;
  service: Service | null;
  /** Set by the first stop signal: nothing new is begun after it. */
  stopping: boolean;
}

async function start(): Promise<void> {
  const given = readConfig(process.env, 'start');
  makeDataDir(given.dataDir);
  const unlock = lockDataDir(given.dataDir);
  process.on('exit', unlock);
  await endLeftovers(given.dataDir, say);
  const config: Config = { ...(await claimPorts(given)), masterKeys: given.masterKeys.length > 0 ? given.masterKeys : [keepMasterKey(given.dataDir)] };
  const log = createLog({ level: config.logLevel, name: 'service', file: join(config.dataDir, 'logs', 'service.log'), terminal: say });
  const running: Running = { infrastructure: null, service: null, stopping: false };
  let began: Promise<void> | null = null;
  onStopSignal(
    async () => {
      running.stopping = true;
      say('\nStopping: finishing open requests and payments …');
      await began?.catch(() => undefined);
      await stop(running, config, log);
      say('Stopped.');
      return 0;
    },
    // The children are ended by the watchdogs of their pipes as soon as this process is gone.
    () => say('Stopped at once.'),
  );
  began = bringUp(running, config, log);
  try {
    await began;
  } catch (error) {
    if (running.stopping) return;
    await stop(running, config, log);
    throw error;
  }
}

async function bringUp(running: Running, config: Config, log: Log): Promise<void> {
  say('Starting Postgres, Temporal and the simulated gateway …');
  const publish = { now: (): void => undefined };
  const told = {
    onEnded: (name: string, reason: string) => log.warn({ part: name, reason }, `${name} ended unexpectedly (${reason}): starting it again`),
    onRestarted: (name: string, pid: number) => {
      log.warn({ part: name, child: pid }, `${name} runs again`);
      publish.now();
    },
    onFailed: (name: string, error: unknown) => log.error({ part: name, err: error }, `${name} could not be started again`),
  };
  // The worker asks for the same bundle and finds it made. Its failure is reported after the infrastructure is known,
  // so that it can be stopped.
  const bundling = bundledWorkflows();
  bundling.catch(() => undefined);
  // Loading the product takes a second or two: the children start meanwhile, and a wrong setting is told before it.
  const loading = import('./compose.ts');
  loading.catch(() => undefined);
  const infrastructure = await startInfrastructure(config, { env: process.env, say, told });
  running.infrastructure = infrastructure;
  const applied = await migrate(infrastructure.databaseUrl);
  await bundling;
  if (running.stopping) return;

  const { startService } = await loading;
  const service = await startService({
    config,
    log,
    databaseUrl: infrastructure.databaseUrl,
    temporalAddress: infrastructure.temporal.address,
    masterKeys: config.masterKeys,
    simulator: infrastructure.simulator,
    roles: { api: true, worker: true },
  });
  running.service = service;
  const demo = await demoMerchant(config.dataDir, service.db);
  const startedAt = new Date().toISOString();
  publish.now = () =>
    writeRuntime(config.dataDir, {
      api_url: `http://127.0.0.1:${config.port}/api/v1`,
      public_url: config.publicUrl,
      database_url: infrastructure.databaseUrl,
      temporal: { address: infrastructure.temporal.address, namespace: config.temporal.namespace, ui_url: infrastructure.temporal.uiUrl },
      simulator: infrastructure.simulator,
      webhook_allow_loopback: config.webhookAllowLoopback,
      demo: demo.merchant,
      pids: { service: process.pid, ...infrastructure.pids() },
      started_at: startedAt,
    });
  if (running.stopping) return;
  publish.now();
  say(
    welcomeText({
      publicUrl: config.publicUrl,
      temporalUiUrl: infrastructure.temporal.uiUrl,
      simulatorUrl: infrastructure.simulator.url,
      demo: demo.merchant,
      dataDir: config.dataDir,
      firstStart: applied.length > 0 && demo.isNew,
    }),
  );
}

async function stop(running: Running, config: Config, log: Log): Promise<void> {
  removeRuntime(config.dataDir);
  try {
    await running.service?.stop();
  } catch (error) {
    log.error({ err: error }, 'the service did not stop in order');
  }
  await running.infrastructure?.stop();
}

// A terminal that went away must not end the service with a broken pipe.
process.stdout.on('error', () => undefined);
await start().catch(complain);
