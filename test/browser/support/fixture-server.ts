// The pages alone on a free port, over a fixture door. Run by itself it serves every state for looking at:
// `node --import tsx test/browser/support/fixture-server.ts [port]`.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import Koa from 'koa';
import type { PagesDeps } from '../../../pages/deps.ts';
import { createPagesRouter } from '../../../pages/routes.ts';
import { createKeyRing } from '../../../platform/key-ring.ts';
import type { FixtureDoor } from './fixture-checkout.ts';
import { fixtureDoor, fixtureStates } from './fixture-checkout.ts';
import { type FixtureSetup, fixtureSetup, setupStates } from './fixture-setup.ts';

export interface FixtureServer {
  readonly url: string;
  readonly door: FixtureDoor;
  readonly setup: FixtureSetup;
  /** What the pages logged as errors. */
  readonly errors: object[];
  close(): Promise<void>;
}

export async function startFixtureServer(overrides: Partial<PagesDeps> = {}, port = 0): Promise<FixtureServer> {
  const door = fixtureDoor();
  const setup = fixtureSetup();
  const errors: object[] = [];
  const app = new Koa();
  app.use(
    createPagesRouter({
      checkout: door,
      setup,
      keyRing: createKeyRing(['a fixture master key that opens nothing at all']),
      https: false,
      log: { error: (fields) => void errors.push(fields) },
      now: () => new Date(),
      ...overrides,
    }),
  );
  const server = app.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    door,
    setup,
    errors,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { url } = await startFixtureServer({}, Number(process.argv[2] ?? 0));
  for (const state of Object.keys(fixtureStates)) process.stdout.write(`${url}/checkout/${state}\n`);
  for (const state of Object.keys(setupStates)) process.stdout.write(`${url}/setup/${state}\n`);
}
