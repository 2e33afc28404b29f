// A run of a charge that was thought dead wakes up beside the one that took over: a machine that stood still, a worker cut
// off from Temporal. Whatever each of them hears, the payment is charged once and the rows know it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCheckoutSessionActivities } from '../../activities/checkout-session.ts';
import type { ChargeOutcome } from '../../domain/gateway-outcome.ts';
import type { Gateway } from '../../gateways/gateway.ts';
import { simulatorCapabilities } from '../../gateways/simulator/gateway.ts';
import { requestAttempt } from '../../models/payment-attempt.ts';
import { seal } from '../../platform/seal.ts';
import { startStack, type Stack } from '../support/stack.ts';

const unreached: ChargeOutcome = { kind: 'unreached', reason: 'connection_refused' };
const captured: ChargeOutcome = { kind: 'captured', gatewayTransactionId: 'sim_ch_1', amountMinor: 2500, currency: 'USD', reusableReference: null };

function deferred<Value>(): { readonly promise: Promise<Value>; readonly resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe('a charge that was taken over by another run', () => {
  let stack: Stack;
  beforeAll(async () => {
    // No worker: the runs are this file's.
    stack = await startStack({ roles: { api: true, worker: false } });
  });
  afterAll(() => stack.stop());

  async function anAttempt(): Promise<{ sessionId: string; attemptId: string }> {
    const created = await stack.api.post<{ id: string }>('/checkout-sessions', { amount: 2500, currency: 'USD', success_url: 'https://shop.example/ok', failure_url: 'https://shop.example/no' });
    const { operations } = stack.service;
    const id = operations.newId('attempt');
    await requestAttempt(operations.db, {
      id,
      sessionId: created.body.id,
      initiatedBy: 'cardholder',
      sealedCardReference: seal(operations.keyRing, 'gateway-token', id, 'card_reference'),
      card: { brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2034, fingerprint: id },
      payer: { name: null, email: null },
      tokenId: null,
    });
    return { sessionId: created.body.id, attemptId: id };
  }

  /** The activities of one worker, with a gateway that does what the test says. */
  function aRun(does: Pick<Gateway, 'charge' | 'lookupCharge'>) {
    const gateway = { slug: 'simulator', name: 'Simulator', capabilities: simulatorCapabilities, ...does } as unknown as Gateway;
    return createCheckoutSessionActivities({
      operations: stack.service.operations,
      gateways: { open: () => gateway, find: () => null, nameOf: () => 'Simulator' } as unknown as Parameters<typeof createCheckoutSessionActivities>[0]['gateways'],
      recordGatewayCall: () => undefined,
      alert: () => undefined,
      signal: new AbortController().signal,
    });
  }

  const neverAsked = (): Promise<never> => Promise.reject(new Error('the gateway was asked'));

  it('is not sent again once the first run has given the attempt up', async () => {
    const { sessionId, attemptId } = await anAttempt();
    const answer = deferred<ChargeOutcome>();
    const sent = deferred<void>();
    const first = aRun({ charge: () => (sent.resolve(), answer.promise), lookupCharge: neverAsked }).payAttempt({ attemptId });
    await sent.promise;
    const second = aRun({
      charge: neverAsked,
      async lookupCharge() {
        answer.resolve(unreached);
        await first;
        return { kind: 'not_found' };
      },
    }).payAttempt({ attemptId });
    expect(await second).toEqual({ state: 'unreached' });
    expect((await stack.api.get(`/checkout-sessions/${sessionId}`)).body['status']).toBe('open');
  });

  it('is settled by the second run when the first one, reaching nobody, wakes up in between', async () => {
    const { sessionId, attemptId } = await anAttempt();
    const answers = [deferred<ChargeOutcome>(), deferred<ChargeOutcome>()] as const;
    const sent = [deferred<void>(), deferred<void>()] as const;
    const first = aRun({ charge: () => (sent[0].resolve(), answers[0].promise), lookupCharge: neverAsked }).payAttempt({ attemptId });
    await sent[0].promise;
    const second = aRun({ charge: () => (sent[1].resolve(), answers[1].promise), lookupCharge: async () => ({ kind: 'not_found' }) }).payAttempt({ attemptId });
    await sent[1].promise;
    answers[0].resolve(unreached);
    await first;
    answers[1].resolve(captured);
    expect(await second).toEqual({ state: 'approved' });
    const { body } = await stack.api.get(`/checkout-sessions/${sessionId}`);
    expect(body).toMatchObject({ status: 'completed', transaction: { status: 'captured' } });
  });
});
