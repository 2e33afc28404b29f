// Both simulated gateways against the contract, each in a simulator process of its own.
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createSimulatorGateway, simulatorCapabilities } from '../../gateways/simulator/gateway.ts';
import { describeGateway } from './gateway-contract.ts';
import { finishChallenge, startSimulator } from './simulator-harness.ts';

for (const slug of ['simulator', 'simulator_b'] as const) {
  describeGateway(slug, simulatorCapabilities, async () => {
    const harness = await startSimulator();
    const nowhere = createSimulatorGateway({ slug, name: slug, baseUrl: `http://127.0.0.1:${await closedPort()}`, secret: null });
    return {
      gateway: harness.connect(slug),
      nowhere,
      cards: {
        approve: '4242424242424242',
        decline: { number: '4000000000009995', code: 'insufficient_funds' },
        challenge: '4000000000003220',
        lostAnswer: '4000000000000259',
        neverAnswers: '4000000000000267',
      },
      moneyMoved: async (reference) => {
        const entries = await harness.ledger(reference);
        return entries.filter((entry) => entry.type === 'charge' && (entry.status === 'captured' || entry.status === 'authorized')).length;
      },
      finishChallenge,
      garbleNextAnswer: () => harness.control({ slug, behaviour: 'malformed', times: 1 }),
      stop: async () => {
        await nowhere.close();
        await harness.stop();
      },
    };
  });
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
