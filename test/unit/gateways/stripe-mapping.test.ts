// Stripe's objects in our words, those included that should never come.
import { describe, expect, it } from 'vitest';
import { declineCodes, isRetryable } from '../../../domain/gateway-outcome.ts';
import { declineMessages, refusedField, toDeclineCode } from '../../../gateways/stripe/decline.ts';
import { readCardReference, toChargeState, toRefundOutcome, toReleaseOrCapture, toVaultedCard, weightiest, writeCardReference } from '../../../gateways/stripe/mapping.ts';

const asked = { reference: 'txn_1', key: 'txn_1:charge:1' };
const intent = (fields: object) => ({ id: 'pi_1', amount: 2_500, amount_received: 0, amount_capturable: 0, currency: 'usd', metadata: { ...asked }, ...fields });

describe('a PaymentIntent', () => {
  it.each([
    ['captured, by what was received', { status: 'succeeded', amount_received: 2_400 }, { kind: 'captured', amountMinor: 2_400, currency: 'USD', gatewayTransactionId: 'pi_1', reusableReference: null }],
    ['authorised, by what can be captured', { status: 'requires_capture', amount_capturable: 2_500 }, { kind: 'authorized', amountMinor: 2_500 }],
    ['reusable, when it has a customer', { status: 'succeeded', customer: 'cus_1', payment_method: 'pm_1' }, { reusableReference: 'saved:cus_1:pm_1' }],
    ['a challenge', { status: 'requires_action', next_action: { redirect_to_url: { url: 'https://hooks.stripe.com/3ds' } } }, { kind: 'requires_action', actionUrl: 'https://hooks.stripe.com/3ds' }],
    ['a challenge for a script, which our page is not', { status: 'requires_action', next_action: { type: 'use_stripe_sdk' } }, { kind: 'unknown', reason: 'malformed_answer' }],
    ['a challenge at an address that is none', { status: 'requires_action', next_action: { redirect_to_url: { url: 'javascript:1' } } }, { kind: 'unknown' }],
    ['declined', { status: 'requires_payment_method', last_payment_error: { code: 'card_declined', decline_code: 'lost_card' } }, { kind: 'declined', declineCode: 'lost_card', gatewayTransactionId: 'pi_1' }],
    ['never confirmed', { status: 'requires_payment_method' }, { kind: 'unknown', reason: 'malformed_answer' }],
    ['cancelled', { status: 'canceled' }, { kind: 'cancelled' }],
    ['with the bank', { status: 'processing' }, { kind: 'unknown', reason: 'timeout' }],
    ['in a state of tomorrow', { status: 'dreaming' }, { kind: 'unknown', reason: 'malformed_answer' }],
    ['without figures', { status: 'succeeded', amount_received: null }, { kind: 'unknown', reason: 'malformed_answer' }],
    ['of another attempt', { status: 'succeeded', metadata: { ...asked, key: 'txn_1:charge:2' } }, { kind: 'unknown', reason: 'mismatch' }],
    ['of another payment', { status: 'succeeded', metadata: { ...asked, reference: 'txn_2' } }, { kind: 'unknown', reason: 'mismatch' }],
    ['without an id', { id: null, status: 'succeeded' }, { kind: 'unknown', reason: 'malformed_answer' }],
  ])('is %s', (_, fields, outcome) => {
    expect(toChargeState(intent(fields), asked)).toMatchObject(outcome);
  });

  it.each([null, 'text', [], 7, undefined])('that is %s is no answer', (value) => {
    expect(toChargeState(value, asked)).toEqual({ kind: 'unknown', reason: 'malformed_answer' });
  });

  it('is a cancelled charge when it only occupies the key', () => {
    expect(toChargeState(intent({ status: 'requires_payment_method', metadata: { ...asked, purpose: 'cancelled_before_charge' } }), asked)).toMatchObject({ kind: 'cancelled' });
  });

  it('with money outweighs every other under the same key', () => {
    const all = ['canceled', 'requires_action', 'succeeded', 'processing', 'new'].map((status) => ({ status }));
    expect(weightiest(all)).toEqual({ status: 'succeeded' });
    expect(weightiest([])).toBeNull();
  });
});

describe('a capture or void', () => {
  const capture = { reference: 'txn_1', key: 'txn_1:capture:1' };
  it.each([
    ['capture', { status: 'succeeded', amount_received: 1_000, metadata: { ...asked, capture_key: capture.key } }, { kind: 'succeeded', amountMinor: 1_000, currency: 'USD' }],
    ['capture', { status: 'succeeded', amount_received: 1_000, metadata: { ...asked, capture_key: 'txn_1:capture:2' } }, { kind: 'failed', failureCode: 'already_captured' }],
    ['capture', { status: 'canceled' }, { kind: 'failed', failureCode: 'authorization_released' }],
    ['capture', { status: 'requires_capture' }, { kind: 'not_found' }],
    ['void', { status: 'canceled' }, { kind: 'succeeded', amountMinor: 2_500 }],
    ['void', { status: 'succeeded' }, { kind: 'failed', failureCode: 'already_captured' }],
    ['void', { status: 'requires_capture' }, { kind: 'not_found' }],
    ['void', { status: 'requires_action' }, { kind: 'failed', failureCode: 'not_authorized' }],
    ['void', { status: 'canceled', metadata: { reference: 'txn_2' } }, { kind: 'unknown', reason: 'mismatch' }],
  ] as const)('(%s) is told from %j', (verb, fields, outcome) => {
    expect(toReleaseOrCapture(verb, intent(fields), capture)).toMatchObject(outcome);
  });
});

describe('a refund', () => {
  const refundAsked = { reference: 'txn_1', key: 'txn_1:refund:1' };
  const refund = (fields: object) => ({ id: 're_1', amount: 500, currency: 'isk', metadata: refundAsked, ...fields });
  it.each([
    [{ status: 'succeeded' }, { kind: 'succeeded', amountMinor: 5, currency: 'ISK', gatewayOperationId: 're_1' }],
    [{ status: 'pending' }, { kind: 'pending', amountMinor: 5 }],
    [{ status: 'requires_action' }, { kind: 'pending' }],
    [{ status: 'failed', failure_reason: 'lost_or_stolen_card' }, { kind: 'failed', failureCode: 'lost_or_stolen_card' }],
    [{ status: 'canceled' }, { kind: 'failed' }],
    [{ status: 'succeeded', amount: 550 }, { kind: 'unknown', reason: 'malformed_answer' }],
    [{ status: 'succeeded', metadata: { ...refundAsked, key: 'txn_1:refund:2' } }, { kind: 'unknown', reason: 'mismatch' }],
    [{ status: 'else' }, { kind: 'unknown' }],
  ])('%j is understood', (fields, outcome) => {
    expect(toRefundOutcome(refund(fields), refundAsked)).toMatchObject(outcome);
  });
});

describe('a decline', () => {
  it.each([
    [{ code: 'card_declined', decline_code: 'insufficient_funds' }, 'insufficient_funds'],
    [{ code: 'card_declined', decline_code: 'pickup_card' }, 'lost_card'],
    [{ code: 'card_declined', decline_code: 'do_not_honor' }, 'generic_decline'],
    [{ code: 'card_declined', decline_code: 'try_again_later' }, 'processing_error'],
    [{ code: 'card_declined', decline_code: 'invalid_account' }, 'account_closed'],
    [{ code: 'card_declined', decline_code: 'authentication_required' }, 'authentication_required'],
    [{ code: 'authentication_required' }, 'authentication_required'],
    [{ code: 'payment_intent_authentication_failure' }, 'authentication_failed'],
    [{ code: 'expired_card' }, 'expired_card'],
    [{ code: 'incorrect_cvc', decline_code: 'incorrect_cvc' }, 'incorrect_cvc'],
    [{ code: 'card_declined', decline_code: 'constructor' }, 'generic_decline'],
    [{}, 'generic_decline'],
  ] as const)('%j is %s', (error, code) => {
    expect(toDeclineCode(error)).toBe(code);
  });

  it('that the issuer never wants to see again is not retried', () => {
    for (const decline_code of ['do_not_try_again', 'stop_payment_order', 'revocation_of_authorization', 'pickup_card']) {
      expect(isRetryable(toDeclineCode({ code: 'card_declined', decline_code })), decline_code).toBe(false);
    }
    expect(isRetryable(toDeclineCode({ code: 'card_declined', decline_code: 'do_not_honor', advice_code: 'do_not_try_again' }))).toBe(false);
  });

  it('has a text of ours for every code', () => {
    expect(Object.keys(declineMessages).toSorted()).toEqual([...declineCodes].toSorted());
  });

  it('of card data names the field', () => {
    expect(['invalid_number', 'invalid_expiry_year', 'expired_card', 'invalid_cvc', 'card_declined'].map(refusedField)).toEqual(['number', 'expiry', 'expiry', 'cvc', null]);
  });
});

describe('a card reference', () => {
  it('says whether the card can be charged again', () => {
    const card = { customer: 'cus_1', paymentMethod: 'pm_1', isAttached: false };
    expect(readCardReference(writeCardReference(card))).toEqual(card);
    expect(readCardReference('saved:cus_1:pm_1')).toEqual({ ...card, isAttached: true });
  });

  it.each(['', 'simcard_x', 'saved:cus_1', 'saved:cus_1:pm_1/../x', 'old:cus_1:pm_1'])('%j is none', (text) => {
    expect(readCardReference(text)).toBeNull();
  });

  it('is not made of a PaymentMethod that is no card', () => {
    const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2040, fingerprint: 'f' };
    expect(toVaultedCard({ id: 'pm_1', card }, { id: 'cus_1' })).toMatchObject({ reference: 'new:cus_1:pm_1', brand: 'visa', last4: '4242' });
    expect(toVaultedCard({ id: 'pm_1', card: { ...card, fingerprint: null } }, { id: 'cus_1' })).toBeNull();
    expect(toVaultedCard({ id: 'pm_1' }, { id: 'cus_1' })).toBeNull();
    expect(toVaultedCard({ id: 'pm_1', card }, {})).toBeNull();
  });
});
