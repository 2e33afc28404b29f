// The circuit breaker on a clock of the test's own: when it opens, what still goes through, and how it closes.
import { describe, expect, it } from 'vitest';
import { Pan } from '../../../domain/card.ts';
import { type BreakerOptions, withBreaker } from '../../../gateways/breaker.ts';
import { CardRejected, type ChargeRequest, type Gateway, type GatewayCall, VaultUnavailable } from '../../../gateways/gateway.ts';
import { simulatorCapabilities } from '../../../gateways/simulator/gateway.ts';

const call: GatewayCall = { merchantId: 'mer_1', mode: 'test' };
const order: ChargeRequest = { key: 'k', reference: 'txn_1', cardReference: 'card', amountMinor: 100, currency: 'USD', capture: true, initiatedBy: 'merchant', returnUrl: null };
const about = { key: 'k', reference: 'txn_1' };
const card = new Pan({ number: '4242424242424242', expiryMonth: 12, expiryYear: 2040, cvc: '123' });

const silence = { kind: 'unknown', reason: 'timeout' } as const;
const refusedConnection = { kind: 'unreached', reason: 'connection_refused' } as const;
const declined = { kind: 'declined', declineCode: 'generic_decline', message: 'no', gatewayTransactionId: 'g' } as const;
const notFound = { kind: 'not_found' } as const;
const heldBack = { kind: 'unreached', reason: 'circuit_open' };

function guarded(options: Partial<BreakerOptions> = {}) {
  const said: string[] = [];
  const state = { now: 0, charge: silence as Awaited<ReturnType<Gateway['charge']>>, lookup: notFound as Awaited<ReturnType<Gateway['lookupCharge']>>, vault: null as Error | null, sent: 0, hangs: false };
  const operation = async () => ({ kind: 'failed', failureCode: 'x', message: 'x' }) as const;
  const plain: Gateway = {
    slug: 'simulator',
    name: 'Simulator',
    capabilities: simulatorCapabilities,
    async vaultCard() {
      if (state.vault !== null) throw state.vault;
      return { reference: 'r', brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2040, fingerprint: 'f' };
    },
    async charge() {
      state.sent += 1;
      return state.hangs ? new Promise(() => undefined) : state.charge;
    },
    lookupCharge: async () => state.lookup,
    cancelCharge: async () => state.lookup,
    voidCharge: operation,
    captureCharge: operation,
    refundCharge: operation,
    lookupOperation: operation,
  };
  const gateway = withBreaker(plain, { now: () => state.now, onOpen: (slug) => said.push(`open ${slug}`), onClose: (slug) => said.push(`close ${slug}`), ...options });
  const charge = async (times = 1) => {
    let last = await gateway.charge(order, call);
    for (let n = 1; n < times; n++) last = await gateway.charge(order, call);
    return last;
  };
  return { gateway, state, said, charge };
}

describe('a circuit', () => {
  it('opens at the fifth silence in a row, and then holds new charges back without sending them', async () => {
    const { gateway, state, said, charge } = guarded();
    await charge(4);
    expect(gateway.circuit()).toBe('closed');
    await charge();
    expect(gateway.circuit()).toBe('open');
    expect(await charge()).toEqual(heldBack);
    expect(state.sent).toBe(5);
    expect(said).toEqual(['open simulator']);
  });

  it.each([
    ['refused connections', refusedConnection, 'open'],
    ['declines', declined, 'closed'],
    ['answers that were lost after the charge', { kind: 'unknown', reason: 'connection_lost' }, 'closed'],
    ['malformed answers', { kind: 'unknown', reason: 'malformed_answer' }, 'closed'],
    ['refusals by the gateway itself, such as a wrong key of one merchant', { kind: 'unreached', reason: 'refused' }, 'closed'],
  ] as const)('%s leave it %s', async (_, outcome, expected) => {
    const { gateway, state, charge } = guarded();
    state.charge = outcome;
    await charge(20);
    expect(gateway.circuit()).toBe(expected);
  });

  it('counts silences in a row only: any answer begins the count anew', async () => {
    const { gateway, state, charge } = guarded();
    await charge(4);
    state.charge = declined;
    await charge();
    state.charge = silence;
    await charge(4);
    expect(gateway.circuit()).toBe('closed');
    await gateway.lookupCharge(about, call);
    await charge(4);
    await gateway.vaultCard(card, call);
    await charge(4);
    expect(gateway.circuit()).toBe('closed');
  });

  it('forgets silences that are older than half a minute', async () => {
    const { gateway, state, charge } = guarded();
    await charge(4);
    state.now = 30_000;
    await charge(4);
    expect(gateway.circuit()).toBe('closed');
    await charge();
    expect(gateway.circuit()).toBe('open');
  });

  it('lets one charge through after ten seconds, and the others wait for its answer', async () => {
    const { gateway, state, said, charge } = guarded();
    await charge(5);
    state.now = 9_999;
    expect(await charge()).toEqual(heldBack);
    state.now = 10_000;
    state.charge = declined;
    const probe = gateway.charge(order, call);
    expect(gateway.circuit()).toBe('half_open');
    expect(await gateway.charge(order, call)).toEqual(heldBack);
    expect(await probe).toEqual(declined);
    expect(gateway.circuit()).toBe('closed');
    expect(said).toEqual(['open simulator', 'close simulator']);
  });

  it('opens again for ten seconds when the probe is not answered, without another alert', async () => {
    const { gateway, state, said, charge } = guarded();
    await charge(5);
    state.now = 10_000;
    expect(await charge()).toEqual(silence);
    state.now = 19_999;
    expect(await charge()).toEqual(heldBack);
    expect(gateway.circuit()).toBe('open');
    expect(said).toEqual(['open simulator']);
  });

  it('lets the next one try when the probe came back with an answer of no use, such as one merchant’s wrong key', async () => {
    const { gateway, state, charge } = guarded();
    await charge(5);
    state.now = 10_000;
    state.charge = { kind: 'unreached', reason: 'refused' };
    expect(await charge()).toEqual(state.charge);
    expect(gateway.circuit()).toBe('open');
    state.charge = declined;
    expect(await charge()).toEqual(declined);
    expect(gateway.circuit()).toBe('closed');
  });

  it('does not wait for ever for a probe that never comes back', async () => {
    const { gateway, state, charge } = guarded();
    await charge(5);
    state.now = 10_000;
    state.hangs = true;
    void gateway.charge(order, call);
    state.hangs = false;
    state.charge = declined;
    state.now = 20_000;
    expect(await charge()).toEqual(declined);
    expect(gateway.circuit()).toBe('closed');
  });

  it('lets look-ups, captures, voids and refunds through while it is open, and closes when a look-up is answered', async () => {
    const { gateway, state, said, charge } = guarded();
    await charge(5);
    state.lookup = silence;
    expect(await gateway.lookupCharge(about, call)).toEqual(silence);
    expect(gateway.circuit()).toBe('open');
    state.lookup = notFound;
    expect(await gateway.lookupCharge(about, call)).toEqual(notFound);
    expect(said).toEqual(['open simulator', 'close simulator']);
  });

  it('counts cards that could not be kept for want of an answer, and refuses cards at once while it is open', async () => {
    const { gateway, state } = guarded();
    state.vault = new VaultUnavailable('the gateway did not keep the card: timeout', true);
    for (let n = 0; n < 5; n++) await expect(gateway.vaultCard(card, call)).rejects.toThrow('timeout');
    await expect(gateway.vaultCard(card, call)).rejects.toThrow('circuit_open');
    expect(gateway.circuit()).toBe('open');
  });

  it('takes a rejected card for an answer, and an unusable answer for neither', async () => {
    const { gateway, state, charge } = guarded();
    await charge(4);
    state.vault = new VaultUnavailable('the gateway did not keep the card: status 503');
    await expect(gateway.vaultCard(card, call)).rejects.toThrow(VaultUnavailable);
    await charge();
    expect(gateway.circuit()).toBe('open');
    state.now = 10_000;
    state.vault = new CardRejected('number', 'The card number is not valid.');
    await expect(gateway.vaultCard(card, call)).rejects.toThrow(CardRejected);
    expect(gateway.circuit()).toBe('closed');
  });

  it('is each gateway’s own', async () => {
    const a = guarded();
    const b = guarded();
    await a.charge(5);
    b.state.charge = declined;
    expect(await a.charge()).toEqual(heldBack);
    expect(await b.charge()).toEqual(declined);
  });
});
