// A gateway that hangs for everybody, on the whole product: its customers are answered at once instead of after a timeout,
// the other gateway's never notice, operators hear of it, and it is tried again by itself.
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lookUpUnknown } from '../../activities/look-up-unknown.ts';
import type { LookUpWork } from '../../temporal/look-up-door.ts';
import { eventually } from '../support/eventually.ts';
import { type PageAnswer, payOnPage } from '../support/hosted-page.ts';
import { startStack, type Stack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

async function control(fields: object): Promise<void> {
  const answer = await request(`${stack.simulator.url}/control`, { method: 'POST', body: JSON.stringify(fields), headers: { 'content-type': 'application/json' } });
  await answer.body.dump();
  expect(answer.statusCode).toBe(200);
}

async function pay(gateway: string, card = '4242424242424242'): Promise<PageAnswer & { id: string; tookMs: number }> {
  const session = await stack.api.post<{ id: string; checkout_url: string }>('/checkout-sessions', {
    amount: 2500, currency: 'USD', gateway, success_url: 'https://shop.example/ok', failure_url: 'https://shop.example/no',
  });
  const begun = performance.now();
  const answer = await payOnPage(session.body.checkout_url, card);
  return { ...answer, id: session.body.id, tookMs: performance.now() - begun };
}

const openCircuit = async (): Promise<string | undefined> => {
  const answer = await request(`${stack.url}/metrics`);
  return /gateway_circuit_open\{gateway="simulator"\} (\d)/.exec(await answer.body.text())?.[1];
};

it('holds new payments back from a gateway that hangs, and from no other', async () => {
  await control({ slug: 'simulator', behaviour: 'hang' });
  const waited = await Promise.all(Array.from({ length: 5 }, () => pay('simulator')));
  expect(waited.every((answer) => answer.status !== 303 && answer.tookMs > 3_000)).toBe(true);
  expect(await openCircuit()).toBe('1');
  expect(stack.logs.filter((line) => line.includes('gateway_circuit_open'))).toHaveLength(1);

  const [atOnce, other] = await Promise.all([pay('simulator'), pay('simulator_b')]);
  expect(atOnce.status).toBe(waited[0]?.status);
  expect(atOnce.tookMs).toBeLessThan(3_000);
  expect(other).toMatchObject({ status: 303, location: expect.stringContaining('https://shop.example/ok') });

  await control({ slug: 'simulator', behaviour: 'ok' });
  // Ten seconds after it opened, the next customer is the one who tries.
  await eventually(async () => expect(await pay('simulator')).toMatchObject({ status: 303 }), { withinMs: 25_000, everyMs: 500 });
  expect(await openCircuit()).toBe('0');
});

it('asks after everything the gateway left open, when it answers again', async () => {
  await control({ slug: 'simulator', behaviour: 'hang', only: ['lookup'] });
  const lost = await pay('simulator', '4000000000000259');
  const asked: LookUpWork[] = [];
  const lookUp = async (work: LookUpWork) => {
    asked.push(work);
    return 'asked' as const;
  };
  await eventually(async () => {
    asked.length = 0;
    expect(await lookUpUnknown({ db: stack.service.db, lookUp }, 'simulator')).toBe(1);
  });
  expect(await lookUpUnknown({ db: stack.service.db, lookUp }, 'simulator_b')).toBe(0);
  expect(asked).toMatchObject([{ kind: 'charge', merchantId: stack.merchant.merchantId, mode: 'test', amount: 2500, currency: 'USD', session: { id: lost.id } }]);
  await control({ slug: 'simulator', behaviour: 'ok' });
});
