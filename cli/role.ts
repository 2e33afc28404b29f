// One production role as a process of its own: configuration from the environment, logs to stdout, in order down again.
import { readConfig } from '../platform/config.ts';
import { createLog } from '../platform/log.ts';
import { complain } from './complain.ts';
import { type Service, startService } from './compose.ts';
import { onStopSignal } from './shutdown.ts';

/** Resolves when it runs; ends the process with a one-line complaint when it cannot. */
export async function runRole(role: 'api' | 'worker'): Promise<void> {
  try {
    const config = readConfig(process.env, role);
    const log = createLog({ level: config.logLevel, name: role });
    let service: Service | null = null;
    onStopSignal(
      async () => {
        await service?.stop();
        return 0;
      },
      () => undefined,
    );
    const { databaseUrl, temporal, simulator } = config;
    // `readConfig` refuses these roles without either.
    if (databaseUrl === null || temporal.address === null) throw new Error('DATABASE_URL and TEMPORAL_ADDRESS are needed');
    service = await startService({
      config,
      log,
      databaseUrl,
      temporalAddress: temporal.address,
      masterKeys: config.masterKeys,
      simulator: simulator.url === null ? null : { url: simulator.url, secret: simulator.secret },
      roles: { api: role === 'api', worker: role === 'worker' },
    });
    log.info({ port: service.http?.port ?? null }, `${role} is ready`);
  } catch (error) {
    complain(error);
  }
}
