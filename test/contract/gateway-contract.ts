// The suite every gateway must pass before the service may rely on it. It speaks to the port alone; what only a
// provider's test account can do (its ledger, its challenge page, its faults) is handed in by `setup`.
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Pan } from '../../domain/card.ts';
import type { DeclineCode } from '../../domain/gateway-outcome.ts';
import type { ChargeRequest, Gateway, GatewayCall, GatewayCapabilities } from '../../gateways/gateway.ts';

export interface GatewayUnderTest {
  readonly gateway: Gateway;
  /** The same adapter aimed at a port where nobody listens. */
  readonly nowhere: Gateway;
  readonly cards: {
    readonly approve: string;
    readonly decline: { readonly number: string; readonly code: DeclineCode };
    /** Only with `threeDS`. */
    readonly challenge?: string;
    /** Charges, then the connection is lost. */
    readonly lostAnswer?: string;
    /** Neither charges nor answers. */
    readonly neverAnswers?: string;
  };
  /** How many charges with this reference hold or took money, by the provider's own books. */
  readonly moneyMoved: (reference: string) => Promise<number>;
  /** The customer at the bank; resolves with where the bank sends the browser. */
  readonly finishChallenge?: (actionUrl: string, decision: 'complete' | 'fail') => Promise<string>;
  /** The next answer comes garbled, the work behind it done. */
  readonly garbleNextAnswer?: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** @param capabilities switch the parts of the suite; they must be what the gateway declares */
export function describeGateway(name: string, capabilities: GatewayCapabilities, setup: () => Promise<GatewayUnderTest>): void {
  describe(`the gateway contract: ${name}`, () => {
    let under: GatewayUnderTest;
    let gateway: Gateway;
    beforeAll(async () => {
      under = await setup();
      gateway = under.gateway;
    }, 30_000);
    afterAll(() => under?.stop());

    const call: GatewayCall = { merchantId: 'mer_contract', mode: 'test' };
    const vault = (number: string) => gateway.vaultCard(pan(number), call);
    const chargeApproved = async (fields: Partial<ChargeRequest> = {}) => {
      const request = orderOf(await vault(under.cards.approve), fields);
      const outcome = await gateway.charge(request, call);
      if (outcome.kind !== 'captured' && outcome.kind !== 'authorized') throw new Error(`not approved: ${outcome.kind}`);
      return { request, outcome, operation: { reference: request.reference, gatewayTransactionId: outcome.gatewayTransactionId } };
    };
    const challenged = async (fields: Partial<ChargeRequest> = {}) => {
      const request = orderOf(await vault(under.cards.challenge ?? ''), fields);
      const outcome = await gateway.charge(request, call);
      if (outcome.kind !== 'requires_action') throw new Error(`not challenged: ${outcome.kind}`);
      return { request, actionUrl: outcome.actionUrl };
    };

    test('declares the capabilities it is tested for', () => {
      expect(gateway.capabilities).toEqual(capabilities);
    });

    describe('a card', () => {
      test('is kept under a reference, with its brand and last four and nothing else of it', async () => {
        const card = await vault(under.cards.approve);
        expect(card).toMatchObject({ last4: under.cards.approve.slice(-4), expiryMonth: 12, expiryYear: 2040 });
        expect(card.brand).not.toBe('');
        expectNoNumber(card, under.cards.approve);
      });

      test('has the same fingerprint each time, and another card has another', async () => {
        const [first, again, other] = [await vault(under.cards.approve), await vault(under.cards.approve), await vault(under.cards.decline.number)];
        expect(again.fingerprint).toBe(first.fingerprint);
        expect(other.fingerprint).not.toBe(first.fingerprint);
      });

      test('that is refused says which field, and never repeats the number', async () => {
        const wrong = '4242424242424241';
        const error = await gateway.vaultCard(pan(wrong), call).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ name: 'CardRejected', field: 'number' });
        expectNoNumber(error, wrong);
        const past = await gateway.vaultCard(pan(under.cards.approve, { expiryYear: 2020 }), call).catch((thrown: unknown) => thrown);
        expect(past).toMatchObject({ name: 'CardRejected', field: 'expiry' });
        expectNoNumber(past, under.cards.approve);
      });

      test('that could not be handed over is VaultUnavailable, without the number', async () => {
        const error = await under.nowhere.vaultCard(pan(under.cards.approve), call).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ name: 'VaultUnavailable' });
        expectNoNumber(error, under.cards.approve);
      });
    });

    describe('a charge', () => {
      test('that is approved says what was taken, in the gateway’s own figures', async () => {
        const { request, outcome } = await chargeApproved({ amountMinor: 1_999, currency: 'JPY' });
        expect(outcome).toMatchObject({ kind: 'captured', amountMinor: 1_999, currency: 'JPY' });
        expect(await under.moneyMoved(request.reference)).toBe(1);
      });

      test('that is declined says why, and takes nothing', async () => {
        const request = orderOf(await vault(under.cards.decline.number));
        const outcome = await gateway.charge(request, call);
        expect(outcome).toMatchObject({ kind: 'declined', declineCode: under.cards.decline.code });
        expectNoNumber(outcome, under.cards.decline.number);
        expect(await under.moneyMoved(request.reference)).toBe(0);
      });

      test('repeated with its key gives the same answer and charges once', async () => {
        const { request, outcome } = await chargeApproved();
        expect(await gateway.charge(request, call)).toEqual(outcome);
        expect(await under.moneyMoved(request.reference)).toBe(1);
      });

      test('sent 20 times at once with one key charges once and answers alike', async () => {
        const request = orderOf(await vault(under.cards.approve));
        const outcomes = await Promise.all(Array.from({ length: 20 }, () => gateway.charge(request, call)));
        expect(outcomes[0]).toMatchObject({ kind: 'captured' });
        for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
        expect(await under.moneyMoved(request.reference)).toBe(1);
      });

      test('with a used key and another amount is not made and not called a decline', async () => {
        const { request } = await chargeApproved();
        expect(await gateway.charge({ ...request, amountMinor: 9_900 }, call)).toMatchObject({ kind: 'unknown' });
        expect(await under.moneyMoved(request.reference)).toBe(1);
      });

      test('to where nobody listens was surely not made', async () => {
        const outcome = await under.nowhere.charge(orderOf(await vault(under.cards.approve)), call);
        expect(outcome).toEqual({ kind: 'unreached', reason: 'connection_refused' });
      });

      test('whose caller gave up before sending was surely not made', async () => {
        const request = orderOf(await vault(under.cards.approve));
        expect(await gateway.charge(request, { ...call, signal: AbortSignal.abort() })).toMatchObject({ kind: 'unreached' });
        expect(await under.moneyMoved(request.reference)).toBe(0);
      });

      test('whose answer is garbled is unknown, and the look-up tells', async (context) => {
        if (under.garbleNextAnswer === undefined) return context.skip();
        const request = orderOf(await vault(under.cards.approve));
        await under.garbleNextAnswer();
        expect(await gateway.charge(request, call)).toEqual({ kind: 'unknown', reason: 'malformed_answer' });
        expect(await gateway.lookupCharge(request, call)).toMatchObject({ kind: 'captured', amountMinor: request.amountMinor });
      });

      test('whose answer is lost is unknown, and the look-up finds it captured', async (context) => {
        if (under.cards.lostAnswer === undefined) return context.skip();
        const request = orderOf(await vault(under.cards.lostAnswer));
        expect(await gateway.charge(request, call)).toEqual({ kind: 'unknown', reason: 'connection_lost' });
        expect(await gateway.lookupCharge(request, call)).toMatchObject({ kind: 'captured', amountMinor: request.amountMinor, currency: 'USD' });
        expect(await under.moneyMoved(request.reference)).toBe(1);
      });

      test('that is never answered is unknown within its timeout, and the look-up finds nothing', async (context) => {
        if (under.cards.neverAnswers === undefined) return context.skip();
        const request = orderOf(await vault(under.cards.neverAnswers));
        const startedAt = performance.now();
        expect(await gateway.charge(request, call)).toEqual({ kind: 'unknown', reason: 'timeout' });
        expect(performance.now() - startedAt).toBeLessThan(capabilities.chargeTimeoutMs + 1_000);
        expect(await gateway.lookupCharge(request, call)).toEqual({ kind: 'not_found' });
      }, 40_000);

      test('that is interrupted while the gateway is silent is unknown at once', async (context) => {
        if (under.cards.neverAnswers === undefined) return context.skip();
        const request = orderOf(await vault(under.cards.neverAnswers));
        const shutdown = new AbortController();
        const outcome = gateway.charge(request, { ...call, signal: shutdown.signal });
        setTimeout(() => shutdown.abort(), 100);
        expect(await outcome).toMatchObject({ kind: 'unknown' });
      });
    });

    describe('a look-up', () => {
      test('of a captured charge gives the same figures as the charge', async () => {
        const { request, outcome } = await chargeApproved();
        expect(await gateway.lookupCharge(request, call)).toEqual(outcome);
      });

      test('of a declined charge says declined', async () => {
        const request = orderOf(await vault(under.cards.decline.number));
        const outcome = await gateway.charge(request, call);
        expect(await gateway.lookupCharge(request, call)).toEqual(outcome);
      });

      test('of a key never seen says not found', async () => {
        expect(await gateway.lookupCharge({ key: 'txn_never:charge:1', reference: 'txn_never' }, call)).toEqual({ kind: 'not_found' });
        expect(await gateway.lookupOperation({ key: 'txn_never:refund:1', reference: 'txn_never' }, call)).toEqual({ kind: 'not_found' });
      });

      test('that does not arrive says nothing about the charge', async () => {
        expect(await under.nowhere.lookupCharge({ key: 'txn_never:charge:1', reference: 'txn_never' }, call)).toMatchObject({ kind: 'unreached' });
      });
    });

    describe('a cancellation', () => {
      test('of a key never seen holds for ever: a later charge is not made', async () => {
        const request = orderOf(await vault(under.cards.approve));
        expect(await gateway.cancelCharge(request, call)).toMatchObject({ kind: 'cancelled' });
        expect((await gateway.charge(request, call)).kind).toBe('unreached');
        expect(await gateway.lookupCharge(request, call)).toMatchObject({ kind: 'cancelled' });
        expect(await under.moneyMoved(request.reference)).toBe(0);
      });

      test('of a charge that already moved money answers with that charge', async () => {
        const { request, outcome } = await chargeApproved();
        expect(await gateway.cancelCharge(request, call)).toEqual(outcome);
        expect(await under.moneyMoved(request.reference)).toBe(1);
      });

      test('raced with its charge has one winner, and both sides agree', async () => {
        const card = await vault(under.cards.approve);
        for (let round = 0; round < 10; round++) {
          const request = orderOf(card);
          const [charged, cancelled] = await Promise.all([gateway.charge(request, call), gateway.cancelCharge(request, call)]);
          expect(cancelled.kind).toBe(charged.kind === 'captured' ? 'captured' : 'cancelled');
          expect(await under.moneyMoved(request.reference)).toBe(charged.kind === 'captured' ? 1 : 0);
        }
      });
    });

    describe.skipIf(!capabilities.threeDS)('a 3DS challenge', () => {
      test('that is completed captures and sends the browser back', async () => {
        const { request, actionUrl } = await challenged();
        expect(await gateway.lookupCharge(request, call)).toMatchObject({ kind: 'requires_action', actionUrl });
        expect(await under.moneyMoved(request.reference)).toBe(0);
        expect(await under.finishChallenge?.(actionUrl, 'complete')).toBe(request.returnUrl);
        expect(await gateway.lookupCharge(request, call)).toMatchObject({ kind: 'captured', amountMinor: 2_500, currency: 'USD' });
        expect(await under.moneyMoved(request.reference)).toBe(1);
      });

      test('of a charge without capture authorises', async () => {
        const { request, actionUrl } = await challenged({ capture: false });
        await under.finishChallenge?.(actionUrl, 'complete');
        expect(await gateway.lookupCharge(request, call)).toMatchObject({ kind: 'authorized' });
      });

      test('that is failed declines and sends the browser back', async () => {
        const { request, actionUrl } = await challenged();
        expect(await under.finishChallenge?.(actionUrl, 'fail')).toBe(request.returnUrl);
        expect(await gateway.lookupCharge(request, call)).toMatchObject({ kind: 'declined', declineCode: 'authentication_failed' });
      });

      test('that was cancelled cannot be completed any more', async () => {
        const { request, actionUrl } = await challenged();
        expect(await gateway.cancelCharge(request, call)).toMatchObject({ kind: 'cancelled' });
        await under.finishChallenge?.(actionUrl, 'complete');
        expect(await gateway.lookupCharge(request, call)).toMatchObject({ kind: 'cancelled' });
        expect(await under.moneyMoved(request.reference)).toBe(0);
      });

      test('raced with its cancellation has one winner', async () => {
        for (let round = 0; round < 10; round++) {
          const { request, actionUrl } = await challenged();
          const [cancelled] = await Promise.all([gateway.cancelCharge(request, call), under.finishChallenge?.(actionUrl, 'complete')]);
          expect(await gateway.lookupCharge(request, call)).toEqual(cancelled);
          expect(await under.moneyMoved(request.reference)).toBe(cancelled.kind === 'captured' ? 1 : 0);
        }
      });

      test('is a decline when the merchant started the charge', async () => {
        const request = orderOf(await vault(under.cards.challenge ?? ''), { initiatedBy: 'merchant', returnUrl: null });
        expect(await gateway.charge(request, call)).toMatchObject({ kind: 'declined', declineCode: 'authentication_required' });
      });
    });

    describe.skipIf(!capabilities.manualCapture)('an authorisation', () => {
      test('is captured once', async () => {
        const { request, outcome, operation } = await chargeApproved({ capture: false });
        expect(outcome.kind).toBe('authorized');
        const capture = { ...operation, key: `${request.reference}:capture:1`, amountMinor: 2_500, currency: 'USD' };
        const taken = await gateway.captureCharge(capture, call);
        expect(taken).toMatchObject({ kind: 'succeeded', amountMinor: 2_500, currency: 'USD' });
        expect(await gateway.captureCharge(capture, call)).toEqual(taken);
        expect(await gateway.lookupOperation(capture, call)).toEqual(taken);
        expect(await gateway.captureCharge({ ...capture, key: `${request.reference}:capture:2` }, call)).toMatchObject({ kind: 'failed' });
      });

      test.skipIf(!capabilities.partialCapture)('can be captured in part, never beyond what was authorised', async () => {
        const { request, operation } = await chargeApproved({ capture: false });
        const capture = { ...operation, key: `${request.reference}:capture:1`, amountMinor: 2_501, currency: 'USD' };
        expect(await gateway.captureCharge(capture, call)).toMatchObject({ kind: 'failed' });
        const part = { ...capture, key: `${request.reference}:capture:2`, amountMinor: 1_000 };
        expect(await gateway.captureCharge(part, call)).toMatchObject({ kind: 'succeeded', amountMinor: 1_000 });
        const refund = { ...operation, currency: 'USD', key: `${request.reference}:refund:1`, amountMinor: 1_001 };
        expect(await gateway.refundCharge(refund, call)).toMatchObject({ kind: 'failed' });
      });

      test('that is voided can no longer be captured, and a captured one cannot be voided', async () => {
        const first = await chargeApproved({ capture: false });
        const voided = { ...first.operation, key: `${first.request.reference}:void:1` };
        const outcome = await gateway.voidCharge(voided, call);
        expect(outcome).toMatchObject({ kind: 'succeeded', amountMinor: 2_500, currency: 'USD' });
        expect(await gateway.voidCharge(voided, call)).toEqual(outcome);
        expect(await gateway.captureCharge({ ...first.operation, key: `${first.request.reference}:capture:1`, amountMinor: 2_500, currency: 'USD' }, call)).toMatchObject({ kind: 'failed' });
        const second = await chargeApproved();
        expect(await gateway.voidCharge({ ...second.operation, key: `${second.request.reference}:void:1` }, call)).toMatchObject({ kind: 'failed' });
      });
    });

    describe.skipIf(!capabilities.refunds)('refunds', () => {
      test('add up to at most what was captured, also 50 at once', async () => {
        const { request, operation } = await chargeApproved({ amountMinor: 1_000 });
        const outcomes = await Promise.all(
          Array.from({ length: 50 }, (_, n) => gateway.refundCharge({ ...operation, key: `${request.reference}:refund:${n}`, amountMinor: 300, currency: 'USD' }, call)),
        );
        expect(outcomes.filter((outcome) => outcome.kind === 'succeeded')).toHaveLength(3);
        expect(outcomes.filter((outcome) => outcome.kind === 'failed')).toHaveLength(47);
      });

      test('with the same key happen once', async () => {
        const { request, operation } = await chargeApproved();
        const refund = { ...operation, key: `${request.reference}:refund:1`, amountMinor: 1_500, currency: 'USD' };
        const outcomes = await Promise.all(Array.from({ length: 20 }, () => gateway.refundCharge(refund, call)));
        expect(outcomes[0]).toMatchObject({ kind: 'succeeded', amountMinor: 1_500, currency: 'USD' });
        for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
        expect(await gateway.lookupOperation(refund, call)).toEqual(outcomes[0]);
        const rest = { ...refund, key: `${request.reference}:refund:2`, amountMinor: 1_000 };
        expect(await gateway.refundCharge(rest, call)).toMatchObject({ kind: 'succeeded' });
      });

      test('of a charge the gateway does not know fail or are not made', async () => {
        const outcome = await gateway.refundCharge({ key: 'txn_none:refund:1', reference: 'txn_none', gatewayTransactionId: 'none', amountMinor: 1, currency: 'USD' }, call);
        expect(['failed', 'unreached']).toContain(outcome.kind);
      });
    });
  });
}

/** An order for 25.00 USD under a reference of its own. */
export function orderOf(card: { reference: string }, fields: Partial<ChargeRequest> = {}): ChargeRequest {
  const reference = `txn_${randomBytes(8).toString('hex')}`;
  return {
    key: `${reference}:charge:1`,
    reference,
    cardReference: card.reference,
    amountMinor: 2_500,
    currency: 'USD',
    capture: true,
    initiatedBy: 'cardholder',
    returnUrl: 'https://shop.example/back?order=7',
    ...fields,
  };
}

export function pan(number: string, fields: { expiryYear?: number } = {}): Pan {
  return new Pan({ number, cvc: '123', expiryMonth: 12, expiryYear: fields.expiryYear ?? 2040 });
}

/** However it is printed or serialised. */
function expectNoNumber(thing: unknown, number: string): void {
  const texts = [inspect(thing, { depth: 10, showHidden: true }), JSON.stringify(thing), thing instanceof Error ? `${thing.stack} ${thing.message}` : ''];
  for (const text of texts) expect(text).not.toContain(number);
}
