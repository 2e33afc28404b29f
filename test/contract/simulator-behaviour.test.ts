// What the simulated gateway promises beyond the contract: a ledger that outlives kills and holds no card number, the
// cards with a history, pending refunds, the control switch and its notifications.
import { appendFile, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCards } from '../../domain/card.ts';
import type { CardBehaviour } from '../../domain/card.ts';
import type { ChargeRequest, Gateway, GatewayCall } from '../../gateways/gateway.ts';
import { readSimulatorNotification } from '../../gateways/simulator/notification.ts';
import { orderOf, pan } from './gateway-contract.ts';
import { finishChallenge, startSimulator } from './simulator-harness.ts';
import type { SimulatorHarness } from './simulator-harness.ts';

const call: GatewayCall = { merchantId: 'mer_test', mode: 'test' };
const numberOf = (behaviour: CardBehaviour) => testCards.find((card) => card.behaviour === behaviour)!.number;

let harness: SimulatorHarness;
let gateway: Gateway;
const notifications: { path: string; signature: string; body: string }[] = [];
const receiver = createServer((incoming, answer) => {
  let body = '';
  incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
  incoming.on('end', () => {
    notifications.push({ path: incoming.url ?? '', signature: String(incoming.headers['x-simulator-signature']), body });
    // The first is refused, so that the second attempt is seen too.
    answer.writeHead(notifications.length === 1 ? 503 : 204).end();
  });
});

beforeAll(async () => {
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
  harness = await startSimulator({ notifyUrl: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}` });
  gateway = harness.connect('simulator');
}, 30_000);
afterAll(async () => {
  await harness?.stop();
  receiver.close();
});

async function chargeNew(behaviour: CardBehaviour, fields: Partial<ChargeRequest> = {}) {
  const card = await gateway.vaultCard(pan(numberOf(behaviour)), call);
  const order = orderOf(card, fields);
  return { card, order, outcome: await gateway.charge(order, call) };
}
async function chargeTimes(cardReference: string, times: number): Promise<string[]> {
  const seen: string[] = [];
  for (let n = 0; n < times; n++) {
    const outcome = await gateway.charge(orderOf({ reference: cardReference }), call);
    seen.push(outcome.kind === 'declined' ? outcome.declineCode : outcome.kind);
  }
  return seen;
}

/** As `POST /tokenize` would: kept without a charge. */
async function save(behaviour: CardBehaviour): Promise<string> {
  const answer = await request(`${harness.simulator.url}/simulator/v1/cards`, {
    method: 'POST',
    headers: { authorization: `Bearer ${harness.simulator.secret}` },
    body: JSON.stringify({ number: numberOf(behaviour), expiry_month: 12, expiry_year: 2040, cvc: '123', save: true }),
  });
  return ((await answer.body.json()) as { reference: string }).reference;
}

describe('the ledger', () => {
  test('outlives a kill, and keys stay used', async () => {
    const { card, order, outcome } = await chargeNew('approve');
    await harness.crash();
    expect(await gateway.lookupCharge(order, call)).toEqual(outcome);
    expect(await gateway.charge(order, call)).toEqual(outcome);
    expect(await harness.ledger(order.reference)).toMatchObject([{ type: 'charge', status: 'captured', amount: 2_500, amount_captured: 2_500 }]);
    expect((await gateway.vaultCard(pan(numberOf('approve')), call)).fingerprint).toBe(card.fingerprint);
  });

  test('holds every charge that was answered, however the process was killed under load', async () => {
    const card = await gateway.vaultCard(pan(numberOf('approve')), call);
    const answered: ChargeRequest[] = [];
    const load = { running: true };
    const callers = Array.from({ length: 16 }, async () => {
      while (load.running) {
        const order = orderOf(card);
        if ((await gateway.charge(order, call)).kind === 'captured') answered.push(order);
      }
    });
    await expect.poll(() => answered.length, { timeout: 10_000 }).toBeGreaterThan(200);
    await harness.simulator.kill();
    load.running = false;
    await Promise.all(callers);
    await harness.crash();
    const kept = new Map((await harness.ledger()).map((entry) => [entry.key, entry.status]));
    expect(answered.filter((order) => kept.get(order.key) !== 'captured')).toEqual([]);
  }, 30_000);

  test('loses only a torn last line', async () => {
    const { order, outcome } = await chargeNew('approve');
    await harness.crash(() => appendFile(harness.ledgerFile, '[{"row":"charge","id":"sim_ch_to'));
    expect(await gateway.lookupCharge(order, call)).toEqual(outcome);
    const later = await chargeNew('approve');
    await harness.crash();
    expect(await gateway.lookupCharge(later.order, call)).toEqual(later.outcome);
  });

  test('holds no card number, nor does its listing', async () => {
    for (const card of testCards) await gateway.vaultCard(pan(card.number), call);
    const text = (await readFile(harness.ledgerFile, 'utf8')) + JSON.stringify(await harness.ledger());
    for (const card of testCards) expect(text).not.toContain(card.number);
    expect(text).not.toContain('"123"');
  });

  test('keeps the two gateways apart', async () => {
    const { order, card } = await chargeNew('approve');
    const other = harness.connect('simulator_b');
    expect(await other.lookupCharge(order, call)).toEqual({ kind: 'not_found' });
    expect(await other.charge(orderOf(card), call)).toMatchObject({ kind: 'declined', declineCode: 'card_not_supported' });
  });
});

describe('the card table', () => {
  const declines = ['generic_decline', 'insufficient_funds', 'lost_card', 'stolen_card', 'expired_card', 'incorrect_cvc', 'processing_error'] as const;
  test.each(declines)('%s declines with its own code', async (code) => {
    expect((await chargeNew(code)).outcome).toMatchObject({ kind: 'declined', declineCode: code });
  });

  test('decline_after_save approves once and never again, until it is entered anew', async () => {
    const card = await gateway.vaultCard(pan(numberOf('decline_after_save')), call);
    expect(await chargeTimes(card.reference, 3)).toEqual(['captured', 'insufficient_funds', 'insufficient_funds']);
    const anew = await gateway.vaultCard(pan(numberOf('decline_after_save')), call);
    expect(await chargeTimes(anew.reference, 1)).toEqual(['captured']);
  });

  test('decline_next_two approves, declines twice, then approves, also across a restart', async () => {
    const card = await gateway.vaultCard(pan(numberOf('decline_next_two')), call);
    expect(await chargeTimes(card.reference, 2)).toEqual(['captured', 'insufficient_funds']);
    await harness.crash();
    expect(await chargeTimes(card.reference, 3)).toEqual(['insufficient_funds', 'captured', 'captured']);
  });

  test('a card saved without a charge has used up its approval', async () => {
    expect(await chargeTimes(await save('decline_after_save'), 2)).toEqual(['insufficient_funds', 'insufficient_funds']);
    expect(await chargeTimes(await save('decline_next_two'), 3)).toEqual(['insufficient_funds', 'insufficient_funds', 'captured']);
  });

  test('the slow card charges within the timeout, and a cancel meanwhile wins', async () => {
    const card = await gateway.vaultCard(pan(numberOf('slow')), call);
    const [kept, dropped] = [orderOf(card), orderOf(card)];
    const outcomes = Promise.all([gateway.charge(kept, call), gateway.charge(dropped, call)]);
    expect(await gateway.lookupCharge(kept, call)).toEqual({ kind: 'not_found' });
    expect(await gateway.cancelCharge(dropped, call)).toMatchObject({ kind: 'cancelled' });
    expect(await outcomes).toMatchObject([{ kind: 'captured' }, { kind: 'unreached' }]);
  }, 15_000);

  test('a lost answer is lost once: the same key then gets it, and one charge stands', async () => {
    const { order, outcome } = await chargeNew('lost_answer');
    expect(outcome).toMatchObject({ kind: 'unknown' });
    expect(await gateway.charge(order, call)).toMatchObject({ kind: 'captured' });
    expect(await harness.ledger(order.reference)).toHaveLength(1);
  });

  test('pending refunds end as their card says, across a kill, and are told by signed notifications', async () => {
    notifications.length = 0;
    const refunds: { refund: { key: string; reference: string }; end: string }[] = [];
    for (const [behaviour, end] of [['refund_pending_succeeds', 'succeeded'], ['refund_pending_fails', 'failed']] as const) {
      const { order, outcome } = await chargeNew(behaviour);
      if (outcome.kind !== 'captured') throw new Error(outcome.kind);
      const refund = { key: `${order.reference}:refund:1`, reference: order.reference, gatewayTransactionId: outcome.gatewayTransactionId, amountMinor: 2_000, currency: 'USD' };
      expect(await gateway.refundCharge(refund, call)).toMatchObject({ kind: 'pending', amountMinor: 2_000 });
      // What is pending is held.
      expect(await gateway.refundCharge({ ...refund, key: `${order.reference}:refund:2`, amountMinor: 501 }, call)).toMatchObject({ kind: 'failed', failureCode: 'refund_exceeds_captured' });
      refunds.push({ refund, end });
    }
    await harness.crash();
    for (const { refund, end } of refunds) {
      await expect.poll(async () => (await gateway.lookupOperation(refund, call)).kind, { timeout: 20_000, interval: 200 }).toBe(end);
      await expect.poll(() => notifications.filter((told) => told.body.includes(refund.key)).length, { timeout: 5_000 }).toBeGreaterThan(0);
      const charge = (await harness.ledger(refund.reference)).find((entry) => entry.type === 'charge');
      expect(charge).toMatchObject({ amount_refunded: end === 'succeeded' ? 2_000 : 0 });
    }
    const told = notifications.find((one) => one.body.includes(refunds[0]!.refund.key))!;
    const { secret } = harness.simulator;
    expect(told.path).toBe('/gateway-notifications/simulator');
    expect(readSimulatorNotification({ rawBody: told.body, signature: told.signature, secret, nowMs: Date.now() })).toMatchObject({
      type: 'refund.updated',
      key: refunds[0]!.refund.key,
      reference: refunds[0]!.refund.reference,
    });
    expect(readSimulatorNotification({ rawBody: `${told.body} `, signature: told.signature, secret, nowMs: Date.now() })).toBeNull();
    expect(readSimulatorNotification({ rawBody: told.body, signature: told.signature, secret, nowMs: Date.now() + 600_000 })).toBeNull();
    // The first attempt was refused and made again.
    await expect.poll(() => notifications.length, { timeout: 5_000 }).toBeGreaterThan(refunds.length);
  }, 40_000);
});

describe('the challenge page', () => {
  test('shows the amount with its own decimals and nothing of the merchant, and says so when it is over', async () => {
    const { order, outcome } = await chargeNew('challenge', { amountMinor: 1_234, currency: 'KWD' });
    if (outcome.kind !== 'requires_action') throw new Error(outcome.kind);
    const read = async () => (await request(outcome.actionUrl)).body.text();
    expect(await read()).toContain('1.234 KWD');
    await finishChallenge(outcome.actionUrl, 'complete');
    expect(await finishChallenge(outcome.actionUrl, 'fail')).toBe(order.returnUrl);
    const over = await read();
    expect(over).toContain('it was completed');
    expect(over).toContain(`href="${order.returnUrl}"`);
    expect(await gateway.lookupCharge(order, call)).toMatchObject({ kind: 'captured' });
  });

  test('is a plain 404 under an altered address', async () => {
    const { outcome } = await chargeNew('challenge');
    if (outcome.kind !== 'requires_action') throw new Error(outcome.kind);
    const last = outcome.actionUrl.endsWith('A') ? 'B' : 'A';
    expect((await request(outcome.actionUrl.slice(0, -1) + last)).statusCode).toBe(404);
  });
});

describe('the control switch', () => {
  const slug = 'simulator';
  const outcomeUnder = async (control: object) => {
    const card = await gateway.vaultCard(pan(numberOf('approve')), call);
    const order = orderOf(card);
    await harness.control({ slug, only: ['charge'], times: 1, ...control });
    return { order, outcome: await gateway.charge(order, call) };
  };

  test('down: surely not charged', async () => {
    const { order, outcome } = await outcomeUnder({ behaviour: 'down' });
    expect(outcome).toEqual({ kind: 'unreached', reason: 'refused' });
    expect(await harness.ledger(order.reference)).toEqual([]);
  });

  test('hang: unknown, and nothing was charged', async () => {
    const { order, outcome } = await outcomeUnder({ behaviour: 'hang' });
    expect(outcome).toEqual({ kind: 'unknown', reason: 'timeout' });
    expect(await gateway.lookupCharge(order, call)).toEqual({ kind: 'not_found' });
  }, 15_000);

  test.each([
    ['malformed', 'malformed_answer'],
    ['oversized', 'malformed_answer'],
    ['lost', 'connection_lost'],
    ['lost_502', 'server_error'],
    ['lost_hang', 'timeout'],
  ])('%s: unknown (%s), and the look-up finds the charge', async (behaviour, reason) => {
    const { order, outcome } = await outcomeUnder({ behaviour });
    expect(outcome).toEqual({ kind: 'unknown', reason });
    expect(await gateway.lookupCharge(order, call)).toMatchObject({ kind: 'captured', amountMinor: 2_500 });
  }, 15_000);

  test('a wrong amount or currency is passed on as the gateway tells it', async () => {
    expect((await outcomeUnder({ behaviour: 'wrong_amount' })).outcome).toMatchObject({ kind: 'captured', amountMinor: 2_501 });
    expect((await outcomeUnder({ behaviour: 'wrong_currency' })).outcome).toMatchObject({ kind: 'captured', currency: 'EUR' });
  });

  test('slow: answers within the timeout', async () => {
    expect((await outcomeUnder({ behaviour: 'slow' })).outcome).toMatchObject({ kind: 'captured' });
  }, 15_000);

  test('ends by itself after for_ms and leaves the other gateway alone', async () => {
    await harness.control({ slug, behaviour: 'down', for_ms: 300 });
    expect(await harness.connect('simulator_b').lookupCharge({ key: 'k', reference: 'r' }, call)).toEqual({ kind: 'not_found' });
    expect(await gateway.lookupCharge({ key: 'k', reference: 'r' }, call)).toMatchObject({ kind: 'unreached' });
    await expect.poll(() => gateway.lookupCharge({ key: 'k', reference: 'r' }, call), { timeout: 5_000 }).toEqual({ kind: 'not_found' });
  });

  test('refuses what it does not know', async () => {
    await expect(harness.control({ slug, behaviour: 'explode' })).rejects.toThrow('behaviour');
    await expect(harness.control({ slug: 'stripe', behaviour: 'ok' })).rejects.toThrow('slug');
  });
});

test('the API asks for its bearer', async () => {
  const answer = await request(`${harness.simulator.url}/simulator/v1/charges?key=k`);
  expect(answer.statusCode).toBe(401);
  expect(await answer.body.json()).toEqual({ error: 'unauthorized', charged: false });
});

test('a gateway that dies in the middle leaves the charge unknown, then unreached', async () => {
  const card = await gateway.vaultCard(pan(numberOf('never_answers')), call);
  const outcome = gateway.charge(orderOf(card), call);
  await expect.poll(() => gateway.lookupCharge({ key: 'k', reference: 'r' }, call)).toEqual({ kind: 'not_found' });
  await harness.simulator.kill();
  expect(await outcome).toEqual({ kind: 'unknown', reason: 'connection_lost' });
  expect(await gateway.charge(orderOf(card), call)).toEqual({ kind: 'unreached', reason: 'connection_refused' });
  await harness.crash();
});
