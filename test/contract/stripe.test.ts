// Stripe against the contract, on a stand-in, and what only Stripe does: lagging search, keys, headers, saved cards.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStripeGateway, stripeCapabilities } from '../../gateways/stripe/gateway.ts';
import type { StripeGateway } from '../../gateways/stripe/gateway.ts';
import type { GatewayCall } from '../../gateways/gateway.ts';
import { describeGateway, orderOf, pan } from './gateway-contract.ts';
import { standInCards, startStripeStandIn } from './stripe-stand-in.ts';
import type { StripeStandIn } from './stripe-stand-in.ts';

const chargeTimeoutMs = 2_000;

describeGateway('stripe', { ...stripeCapabilities, chargeTimeoutMs }, async () => {
  const standIn = await startStripeStandIn();
  const gateway = connect(standIn);
  const nowhere = connect({ ...standIn, url: 'http://127.0.0.1:1' });
  return {
    gateway,
    nowhere,
    cards: { ...standInCards, decline: { number: standInCards.decline, code: 'insufficient_funds' } },
    moneyMoved: async (reference) => standIn.moneyMoved(reference),
    // Stripe appends what it calls the payment; the customer lands on the same page.
    finishChallenge: async (actionUrl, decision) => (await standIn.finishChallenge(actionUrl, decision)).replace(/&payment_intent=.*$/, ''),
    garbleNextAnswer: async () => standIn.garbleNextAnswer(),
    stop: async () => {
      await Promise.all([gateway.close(), nowhere.close()]);
      await standIn.stop();
    },
  };
});

describe('stripe', () => {
  const call: GatewayCall = { merchantId: 'mer_stripe', mode: 'test' };
  const alerts: string[] = [];
  let standIn: StripeStandIn;
  let gateway: StripeGateway;
  beforeAll(async () => {
    standIn = await startStripeStandIn();
    gateway = connect(standIn, (name) => alerts.push(name));
  });
  afterAll(async () => {
    await gateway.close();
    await standIn.stop();
  });
  const vault = (number: string) => gateway.vaultCard(pan(number), call);
  const asked = (line: string) => standIn.requests.filter((request) => request.line === line);

  test('finds a charge by its group while the search index lags', async () => {
    standIn = await restart(standIn);
    const card = await vault(standInCards.lostAnswer);
    standIn.stopIndexing();
    const request = orderOf(card);
    expect(await gateway.charge(request, call)).toMatchObject({ kind: 'unknown' });
    expect(await gateway.lookupCharge(request, call)).toMatchObject({ kind: 'captured', amountMinor: 2_500 });
  });

  test('finds a charge that waits for 3DS by its id while the search index lags', async () => {
    standIn = await restart(standIn);
    const request = orderOf(await vault(standInCards.challenge));
    standIn.stopIndexing();
    const outcome = await gateway.charge(request, call);
    if (outcome.kind !== 'requires_action') throw new Error(outcome.kind);
    expect(await gateway.lookupCharge(request, call)).toEqual({ kind: 'not_found' });
    const known = { ...request, gatewayTransactionId: outcome.gatewayTransactionId };
    expect(await gateway.lookupCharge(known, call)).toEqual(outcome);
    expect(await gateway.cancelCharge(known, call)).toMatchObject({ kind: 'cancelled' });
  });

  test('does not cancel by a fence what search cannot see yet: the key is taken', async () => {
    standIn = await restart(standIn);
    const request = orderOf(await vault(standInCards.challenge));
    standIn.stopIndexing();
    expect(await gateway.charge(request, call)).toMatchObject({ kind: 'requires_action' });
    expect(await gateway.cancelCharge(request, call)).toEqual({ kind: 'unknown', reason: 'server_error' });
  });

  test('sends our keys and nothing about this machine', async () => {
    const request = orderOf(await vault(standInCards.approve));
    await gateway.charge(request, call);
    const sent = asked('POST /v1/payment_intents').at(-1)!;
    expect(sent.headers['idempotency-key']).toBe(request.key);
    expect(sent.body).toMatchObject({ 'metadata[reference]': request.reference, 'metadata[key]': request.key, transfer_group: request.reference, currency: 'usd' });
    expect(Object.keys(sent.headers).filter((name) => name.startsWith('x-stripe'))).toEqual([]);
    expect(sent.headers['user-agent']).toBe('payment-checkout-service');
  });

  test('sends nothing twice by itself', async () => {
    const request = orderOf(await vault(standInCards.lostAnswer));
    const before = asked('POST /v1/payment_intents').length;
    expect(await gateway.charge(request, call)).toEqual({ kind: 'unknown', reason: 'connection_lost' });
    expect(asked('POST /v1/payment_intents').length - before).toBe(1);
  });

  test('keeps a card for later by its first charge, and the merchant can charge what that charge named', async () => {
    const first = await gateway.charge(orderOf(await vault(standInCards.approve)), call);
    if (first.kind !== 'captured' || first.reusableReference === null) throw new Error('nothing to reuse');
    expect(first.reusableReference).toMatch(/^saved:cus_\w+:pm_\w+$/);
    expect(asked('POST /v1/payment_intents').at(-1)!.body).toMatchObject({ setup_future_usage: 'off_session' });
    const before = standIn.requests.length;
    const renewal = orderOf({ reference: first.reusableReference }, { initiatedBy: 'merchant', returnUrl: null });
    expect(await gateway.charge(renewal, call)).toMatchObject({ kind: 'captured', reusableReference: first.reusableReference });
    expect(standIn.requests.slice(before).map(({ line }) => line)).toEqual(['POST /v1/payment_intents']);
    expect(standIn.requests.at(-1)!.body).toMatchObject({ off_session: 'true' });
  });

  test('attaches a card that was only tokenised before the merchant charges it', async () => {
    const before = standIn.requests.length;
    const renewal = orderOf(await vault(standInCards.approve), { initiatedBy: 'merchant', returnUrl: null });
    expect(await gateway.charge(renewal, call)).toMatchObject({ kind: 'captured' });
    expect(standIn.requests.slice(before).filter(({ line }) => line.endsWith('/attach'))).toHaveLength(1);
  });

  test('declines a challenge that has nowhere to come back to', async () => {
    const request = orderOf(await vault(standInCards.challenge), { returnUrl: null });
    expect(await gateway.charge(request, call)).toMatchObject({ kind: 'declined', declineCode: 'authentication_required' });
  });

  test.each([
    ['a server error', 500, { error: { type: 'api_error', message: '' } }, { kind: 'unknown', reason: 'server_error' }],
    ['somebody else’s error page', 502, { message: 'bad gateway' }, { kind: 'unknown', reason: 'server_error' }],
    ['an answer without the thing asked for', 200, { hello: 'world' }, { kind: 'unknown', reason: 'malformed_answer' }],
    ['a key in use', 409, { error: { type: 'invalid_request_error', code: 'idempotency_key_in_use', message: '' } }, { kind: 'unknown', reason: 'server_error' }],
    ['too many requests', 429, { error: { type: 'invalid_request_error', code: 'rate_limit', message: '' } }, { kind: 'unreached', reason: 'refused' }],
    ['a wrong key', 401, { error: { type: 'invalid_request_error', message: 'Invalid API Key provided: sk_test_1234' } }, { kind: 'unreached', reason: 'refused' }],
    ['a key without the permission', 403, { error: { type: 'invalid_request_error', message: '' } }, { kind: 'unreached', reason: 'refused' }],
    ['a bad parameter', 400, { error: { type: 'invalid_request_error', code: 'parameter_unknown', param: 'x', message: '' } }, { kind: 'unreached', reason: 'refused' }],
    ['a currency the account cannot take', 400, { error: { type: 'invalid_request_error', param: 'currency', message: '' } }, { kind: 'declined', declineCode: 'currency_not_supported' }],
    ['an amount below its minimum', 400, { error: { type: 'invalid_request_error', code: 'amount_too_small', message: '' } }, { kind: 'declined', declineCode: 'currency_not_supported' }],
    ['a card that is gone', 404, { error: { type: 'invalid_request_error', code: 'resource_missing', param: 'payment_method', message: '' } }, { kind: 'declined', declineCode: 'card_not_supported' }],
    ['another payment', 200, { id: 'pi_1', status: 'succeeded', metadata: { reference: 'txn_other' } }, { kind: 'unknown', reason: 'mismatch' }],
    ['a decline of another payment', 402, { error: { type: 'card_error', code: 'card_declined', payment_intent: { id: 'pi_1', metadata: { reference: 'txn_other' } } } }, { kind: 'unknown', reason: 'mismatch' }],
  ] as const)('answering %s is understood', async (_, status, body, outcome) => {
    const request = orderOf(await vault(standInCards.approve));
    standIn.answerNext(status, body);
    expect(await gateway.charge(request, call)).toMatchObject(outcome);
    expect(standIn.moneyMoved(request.reference)).toBe(0);
  });

  test('tells the operator of refused credentials and requests, without repeating them', () => {
    expect(alerts).toEqual(expect.arrayContaining(['stripe_credentials_refused', 'stripe_permission_missing', 'stripe_request_refused']));
    expect(alerts.join()).not.toContain('sk_test');
  });

  test('that may not send card data keeps no card and tells the operator', async () => {
    standIn.answerNext(402, { error: { type: 'invalid_request_error', message: 'Sending credit card numbers directly to the Stripe API is generally unsafe.' } });
    await expect(vault(standInCards.approve)).rejects.toMatchObject({ name: 'VaultUnavailable' });
    expect(alerts).toContain('stripe_card_data_refused');
  });

  test('without credentials does nothing and says so', async () => {
    const alert: string[] = [];
    const unconnected = createStripeGateway({ baseUrl: standIn.url, alert: (name) => alert.push(name), credentialsOf: () => Promise.reject(new Error('no account')) });
    const before = standIn.requests.length;
    expect(await unconnected.charge(orderOf({ reference: 'saved:cus_1:pm_1' }), call)).toEqual({ kind: 'unreached', reason: 'refused' });
    await expect(unconnected.vaultCard(pan(standInCards.approve), call)).rejects.toMatchObject({ name: 'VaultUnavailable' });
    expect(standIn.requests.length).toBe(before);
    expect(alert).toEqual(['stripe_credentials_missing', 'stripe_credentials_missing']);
    await unconnected.close();
  });

  test('takes an amount it cannot express for a decline, without asking', async () => {
    const before = standIn.requests.length;
    expect(await gateway.charge(orderOf({ reference: 'saved:cus_1:pm_1' }, { amountMinor: 5_124, currency: 'KWD' }), call)).toMatchObject({ kind: 'declined', declineCode: 'currency_not_supported' });
    expect(standIn.requests.length).toBe(before);
  });

  test('recognises a capture and a void whose answers were lost', async () => {
    for (const verb of ['capture', 'void'] as const) {
      const request = orderOf(await vault(standInCards.approve), { capture: false });
      const charged = await gateway.charge(request, call);
      if (charged.kind !== 'authorized') throw new Error(charged.kind);
      const operation = { key: `${request.reference}:${verb}:1`, reference: request.reference, gatewayTransactionId: charged.gatewayTransactionId, amountMinor: 2_500, currency: 'USD' };
      expect(await gateway.lookupOperation({ key: operation.key, reference: operation.reference }, call)).toEqual({ kind: 'not_found' });
      standIn.garbleNextAnswer();
      const send = () => (verb === 'capture' ? gateway.captureCharge(operation, call) : gateway.voidCharge(operation, call));
      expect(await send()).toEqual({ kind: 'unknown', reason: 'malformed_answer' });
      const found = await gateway.lookupOperation({ key: operation.key, reference: operation.reference }, call);
      expect(found).toMatchObject({ kind: 'succeeded', amountMinor: 2_500, currency: 'USD' });
      expect(await send()).toEqual(found);
    }
  });

  /** A stand-in whose index is complete again, behind the same adapter variable. */
  async function restart(old: StripeStandIn): Promise<StripeStandIn> {
    await gateway.close();
    await old.stop();
    const fresh = await startStripeStandIn();
    gateway = connect(fresh, (name) => alerts.push(name));
    return fresh;
  }
});

function connect(standIn: Pick<StripeStandIn, 'url' | 'secretKey'>, alert: (name: string) => void = () => undefined): StripeGateway {
  return createStripeGateway({ baseUrl: standIn.url, credentialsOf: async () => ({ secretKey: standIn.secretKey }), alert, chargeTimeoutMs });
}
