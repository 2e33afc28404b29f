// Every request of the adapter against Stripe's own description of its API: `stripe-mock` refuses unknown parameters and
// wrong types. It remembers nothing, so its answers say nothing. Runs where that program is (README.md of the adapter).
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GatewayCall } from '../../gateways/gateway.ts';
import { createStripeGateway } from '../../gateways/stripe/gateway.ts';
import type { StripeGateway } from '../../gateways/stripe/gateway.ts';
import { eventually } from '../support/eventually.ts';
import { orderOf, pan } from './gateway-contract.ts';

const program = process.env.STRIPE_MOCK ?? 'stripe-mock';
const isHere = spawnSync(program, ['-version']).error === undefined;

describe.skipIf(!isHere)('the requests to Stripe', () => {
  const call: GatewayCall = { merchantId: 'mer_openapi', mode: 'test' };
  /** Method, path and status of everything that was asked. */
  const asked: string[] = [];
  const note = (message: unknown) => {
    const { request, response } = message as { request: { method: string; path: string }; response: { statusCode: number } };
    asked.push(`${request.method} ${request.path.split('?')[0]} ${response.statusCode}`);
  };
  let mock: ChildProcess;
  let pool: Pool;
  let gateway: StripeGateway;
  beforeAll(async () => {
    const port = await freePort();
    mock = spawn(program, ['-http-port', String(port)], { stdio: 'ignore' });
    pool = new Pool(`http://127.0.0.1:${port}`);
    await eventually(async () => {
      const { statusCode, body } = await pool.request({ path: '/', method: 'GET' });
      await body.dump();
      expect(statusCode).toBeGreaterThan(0);
    });
    subscribe('undici:request:headers', note);
    gateway = createStripeGateway({ baseUrl: `http://127.0.0.1:${port}`, dispatcher: asBefore(pool), credentialsOf: async () => ({ secretKey: 'sk_test_123' }), alert: () => undefined });
  });
  afterAll(async () => {
    unsubscribe('undici:request:headers', note);
    await pool?.close();
    mock?.kill();
  });

  const operation = { reference: 'txn_openapi', gatewayTransactionId: 'pi_openapi' };
  const money = { amountMinor: 1_000, currency: 'USD' };
  const saved = { reference: 'saved:cus_openapi:pm_openapi' };
  test.each<[string, () => Promise<unknown>, string[]]>([
    ['keeping a card', () => gateway.vaultCard(pan('4242424242424242'), call), ['POST /v1/payment_methods', 'POST /v1/customers']],
    ['a charge by the cardholder', () => gateway.charge(orderOf({ reference: 'new:cus_openapi:pm_openapi' }), call), ['POST /v1/payment_intents']],
    ['a charge by the cardholder without a way back', () => gateway.charge(orderOf(saved, { returnUrl: null }), call), ['POST /v1/payment_intents']],
    ['an authorisation', () => gateway.charge(orderOf(saved, { capture: false }), call), ['POST /v1/payment_intents']],
    ['a charge by the merchant', () => gateway.charge(orderOf(saved, { initiatedBy: 'merchant', returnUrl: null }), call), ['POST /v1/payment_intents']],
    ['the first charge of a tokenised card by the merchant', () => gateway.charge(orderOf({ reference: 'new:cus_openapi:pm_openapi' }, { initiatedBy: 'merchant', returnUrl: null }), call), ['POST /v1/payment_methods/pm_openapi/attach', 'POST /v1/payment_intents']],
    ['a look-up', () => gateway.lookupCharge({ key: 'txn_openapi:charge:1', reference: 'txn_openapi' }, call), ['GET /v1/charges', 'GET /v1/payment_intents/search']],
    ['a look-up by id', () => gateway.lookupCharge({ key: 'txn_openapi:charge:1', ...operation }, call), ['GET /v1/payment_intents/pi_openapi']],
    ['a cancellation of what was never seen', () => gateway.cancelCharge({ key: 'txn_openapi:charge:1', reference: 'txn_openapi' }, call), ['GET /v1/charges', 'GET /v1/payment_intents/search', 'POST /v1/payment_intents']],
    ['a capture', () => gateway.captureCharge({ ...operation, ...money, key: 'txn_openapi:capture:1' }, call), ['POST /v1/payment_intents/pi_openapi/capture']],
    ['a void', () => gateway.voidCharge({ ...operation, key: 'txn_openapi:void:1' }, call), ['POST /v1/payment_intents/pi_openapi/cancel']],
    ['a refund', () => gateway.refundCharge({ ...operation, ...money, key: 'txn_openapi:refund:1' }, call), ['POST /v1/refunds']],
    ['a look-up of a refund', () => gateway.lookupOperation({ ...operation, key: 'txn_openapi:refund:1' }, call), ['GET /v1/payment_intents/pi_openapi', 'GET /v1/refunds']],
  ])('of %s have the form its API describes', async (_, send, expected) => {
    asked.length = 0;
    await send();
    expect(asked).toEqual(expected.map((line) => `${line} 200`));
  });

  test('with an unknown parameter are refused there, or this suite would prove nothing', async () => {
    const { statusCode, body } = await pool.request({ path: '/v1/refunds', method: 'POST', headers: { authorization: 'Bearer sk_test_123', 'content-type': 'application/x-www-form-urlencoded' }, body: 'unheard_of=1' });
    await body.dump();
    expect(statusCode).toBe(400);
  });
});

/** stripe-mock v0.197.0 describes the API of 2025-09-30, where this parameter still had its old name. */
function asBefore(pool: Pool): Dispatcher {
  return pool.compose((dispatch) => (options, handler) => {
    const body = typeof options.body === 'string' ? options.body.replaceAll('allowed_payment_method_types', 'payment_method_types') : options.body;
    return dispatch({ ...options, body: body ?? null }, handler);
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
