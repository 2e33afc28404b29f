import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { brandOf, Pan, passesLuhn, testCards } from '../../../domain/card.ts';

const number = '4242424242424242';
const card = (): Pan => new Pan({ number, cvc: '737', expiryMonth: 12, expiryYear: 2030, holderName: 'Ada' });

describe('a card number on its way to the gateway', () => {
  it('shows in no way of printing an object', () => {
    const pan = card();
    const printed = [
      String(pan),
      `${pan as unknown as string}`,
      JSON.stringify(pan),
      JSON.stringify({ nested: [pan] }),
      inspect(pan, { depth: 9, showHidden: true }),
      inspect({ nested: { pan } }, { depth: 9, showHidden: true, getters: true }),
      JSON.stringify({ ...pan }),
      JSON.stringify(Object.getOwnPropertyDescriptors(pan)),
      JSON.stringify(structuredClone({ ...pan })),
      new Error('failed', { cause: pan }).cause?.toString() ?? '',
    ];
    for (const text of printed) expect(text).not.toMatch(/4242424242|737/);
  });

  it('is given out by reveal alone, and last 4 and brand without it', () => {
    expect(card().reveal()).toEqual({ number, cvc: '737' });
    expect(card()).toMatchObject({ last4: '4242', brand: 'visa', expiryMonth: 12, expiryYear: 2030, holderName: 'Ada' });
  });

  it('is not given out to something that only looks like a card', () => {
    expect(() => Pan.prototype.reveal.call({})).toThrow('not a card');
  });
});

describe('the Luhn check', () => {
  it('accepts every test card', () => {
    for (const { number: listed } of testCards) expect(passesLuhn(listed), listed.slice(-4)).toBe(true);
  });

  it('refuses separators, letters, and lengths no card has', () => {
    for (const text of ['', '0', '4242 4242 4242 4242', '4242-4242', '4242424242424241', '0'.repeat(20), '0'.repeat(11), 'x'.repeat(16)]) expect(passesLuhn(text)).toBe(false);
  });

  it('notices any one digit that was mistyped', () => {
    fc.assert(
      fc.property(fc.constantFrom(...testCards), fc.nat(30), fc.integer({ min: 1, max: 9 }), (listed, at, change) => {
        const digits = [...listed.number];
        const index = at % digits.length;
        digits[index] = String((Number(digits[index]) + change) % 10);
        expect(passesLuhn(digits.join(''))).toBe(false);
      }),
    );
  });
});

describe('the brand of a number', () => {
  it.each([
    ['4111111111111111', 'visa'],
    ['5105105105105100', 'mastercard'],
    ['2221000000000009', 'mastercard'],
    ['2720990000000007', 'mastercard'],
    ['2220990000000000', 'unknown'],
    ['2721000000000000', 'unknown'],
    ['371449635398431', 'amex'],
    ['6011111111111117', 'discover'],
    ['6500000000000002', 'discover'],
    ['30569309025904', 'diners'],
    ['3530111333300000', 'jcb'],
    ['6200000000000005', 'unionpay'],
    ['6759649826438453', 'maestro'],
    ['9999999999999995', 'unknown'],
    ['', 'unknown'],
  ])('%s is %s', (digits, brand) => {
    expect(brandOf(digits)).toBe(brand);
  });

  it('is known while it is being typed', () => {
    expect(brandOf('4')).toBe('visa');
    expect(brandOf('3782 8')).toBe('amex');
  });
});

describe('the table of test cards', () => {
  // As decided for the simulated gateway: which ending does what.
  it('has every card that merchants are promised', () => {
    const does = Object.fromEntries(testCards.map((listed) => [listed.number.slice(-4), listed.behaviour]));
    expect(does).toEqual({
      '4242': 'approve', '4444': 'approve', '0005': 'approve',
      '0002': 'generic_decline', '9995': 'insufficient_funds', '9987': 'lost_card', '9979': 'stolen_card',
      '0069': 'expired_card', '0127': 'incorrect_cvc', '0119': 'processing_error',
      '3220': 'challenge', '0341': 'decline_after_save', '0358': 'decline_next_two',
      '0259': 'lost_answer', '0267': 'never_answers', '0275': 'slow',
      '7726': 'refund_pending_succeeds', '5126': 'refund_pending_fails',
    });
    expect(new Set(testCards.map((listed) => listed.number)).size).toBe(testCards.length);
  });
});
