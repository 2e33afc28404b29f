// What `npm start` brings itself: Postgres, the Temporal server and the simulated gateway, unless the environment names
// others. Started side by side, each kept going by a supervisor, in the same place with the same data.
import { join } from 'node:path';
import { connect } from 'node:net';
import type { Config } from '../platform/config.ts';
import { spawnSimulator } from '../simulator/spawn.ts';
import type { Say } from './child.ts';
import { keepSecret, readPrivate, writePrivately } from './data-dir.ts';
import { claimPort, freePort } from './port.ts';
import { startPostgres } from './postgres.ts';
import type { RunningPostgres } from './postgres.ts';
import { supervise } from './supervise.ts';
import type { Startable, Supervised, SupervisorTold } from './supervise.ts';
import { findTemporalCli, userCacheDir } from './temporal-cli.ts';
import { startTemporal } from './temporal.ts';
import type { RunningTemporal } from './temporal.ts';

export interface Infrastructure {
  readonly databaseUrl: string;
  readonly temporal: { readonly address: string; readonly uiUrl: string | null };
  readonly simulator: { readonly url: string; readonly secret: string };
  /** Process ids of the parts we run, as they are now. */
  readonly pids: () => { postgres?: number; temporal?: number; simulator?: number };
  /** Temporal before Postgres matters to nobody; both after the product. */
  readonly stop: () => Promise<void>;
}

interface RunningSimulator extends Startable {
  readonly url: string;
  readonly secret: string;
}

/**
 * @param config with ports that are free (see claimPorts)
 * @param options.env is for finding the Temporal CLI
 * @throws the first part's error, after the others have been stopped
 */
export async function startInfrastructure(config: Config, options: { env: NodeJS.ProcessEnv; say: Say; told: SupervisorTold }): Promise<Infrastructure> {
  const { say, told } = options;
  const logs = join(config.dataDir, 'logs');

  const startDatabase = async (): Promise<Supervised<RunningPostgres> | null> => {
    if (config.databaseUrl !== null) return null;
    const port = await keptPort(config.dataDir);
    const run = (): Promise<RunningPostgres> => startPostgres({ dataDir: config.dataDir, port, log: say });
    const running = await supervise('postgres', run, told);
    say(`Postgres runs on port ${port}`);
    return running;
  };
  const startServer = async (): Promise<Supervised<RunningTemporal> | null> => {
    if (config.temporal.address !== null) return null;
    const cli = await findTemporalCli({ cacheDir: userCacheDir(options.env), path: options.env['PATH'] ?? '', log: say });
    const { port, uiPort } = config.temporal;
    const run = (): Promise<RunningTemporal> =>
      startTemporal({
        cli,
        // The server does not migrate this file: another release begins a new one, and the sweep starts all again.
        dbFile: join(config.dataDir, 'temporal', `cli-${cli.version}.db`),
        port,
        uiPort,
        namespaces: config.temporal.namespace === 'default' ? [] : [config.temporal.namespace],
        logFile: join(logs, 'temporal.log'),
        log: say,
      });
    const running = await supervise('temporal', run, told);
    say(`Temporal runs on port ${port}`);
    return running;
  };
  const startGateway = async (): Promise<Supervised<RunningSimulator> | null> => {
    if (config.simulator.url !== null) return null;
    const secret = config.simulator.secret ?? keepSecret(config.dataDir, 'simulator.secret');
    const { port } = config.simulator;
    const run = async (): Promise<RunningSimulator> => {
      const simulator = await spawnSimulator({ dir: join(config.dataDir, 'simulator'), port, secret, notifyUrl: `http://127.0.0.1:${config.port}` });
      const ended = new Promise<string>((resolve) => simulator.process.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`)));
      return { pid: simulator.process.pid ?? 0, url: simulator.url, secret, ended, stop: () => simulator.stop() };
    };
    return supervise('simulator', run, told);
  };

  const parts = await Promise.allSettled([startDatabase(), startServer(), startGateway()]);
  const [postgres, temporal, simulator] = parts.map((part) => (part.status === 'fulfilled' ? part.value : null)) as [
    Supervised<RunningPostgres> | null,
    Supervised<RunningTemporal> | null,
    Supervised<RunningSimulator> | null,
  ];
  const stop = async (): Promise<void> => {
    await Promise.all([temporal?.stop(), simulator?.stop(), postgres?.stop()]);
  };
  const failed = parts.find((part) => part.status === 'rejected');
  if (failed !== undefined) {
    await stop();
    throw (failed as PromiseRejectedResult).reason;
  }
  return {
    databaseUrl: config.databaseUrl ?? postgres?.current().url ?? '',
    temporal: {
      address: config.temporal.address ?? temporal?.current().address ?? '',
      uiUrl: config.temporal.uiUrl ?? temporal?.current().uiUrl ?? null,
    },
    simulator: { url: config.simulator.url ?? simulator?.current().url ?? '', secret: config.simulator.secret ?? simulator?.current().secret ?? '' },
    pids: () => ({
      ...(postgres === null ? {} : { postgres: postgres.current().pid }),
      ...(temporal === null ? {} : { temporal: temporal.current().pid }),
      ...(simulator === null ? {} : { simulator: simulator.current().pid }),
    }),
    stop,
  };
}

/** The configuration with every port we shall listen on checked, and 0 replaced by a free one. @throws PortTaken */
export async function claimPorts(config: Config): Promise<Config> {
  // In turn, not at once: two zeros must not become the same port, and the first taken one is the one to name.
  const port = await claimPort(config.port, 'PORT', null);
  const ownTemporal = config.temporal.address === null;
  const temporalPort = ownTemporal ? await claimPort(config.temporal.port, 'TEMPORAL_PORT') : config.temporal.port;
  const uiPort = ownTemporal ? await claimPort(config.temporal.uiPort, 'TEMPORAL_UI_PORT') : config.temporal.uiPort;
  const simulatorPort = config.simulator.url === null ? await claimPort(config.simulator.port, 'SIMULATOR_PORT') : config.simulator.port;
  if (config.metricsPort !== null && config.metricsPort !== 0) await claimPort(config.metricsPort, 'METRICS_PORT', null);
  return {
    ...config,
    port,
    publicUrl: config.port === 0 ? config.publicUrl.replace(/:0$/, `:${port}`) : config.publicUrl,
    temporal: { ...config.temporal, port: temporalPort, uiPort },
    simulator: { ...config.simulator, port: simulatorPort },
  };
}

// The embedded Postgres has no port of its own in the configuration: any free one, the same again if it is still free,
// so that a tool an operator left connected finds it after a restart.
async function keptPort(dataDir: string): Promise<number> {
  const file = join(dataDir, 'postgres.port');
  const kept = readPrivate<{ port: number }>(file)?.port;
  if (kept !== undefined && !(await answers(kept))) return kept;
  const port = await freePort();
  writePrivately(file, { port });
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
