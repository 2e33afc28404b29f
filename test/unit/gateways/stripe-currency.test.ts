// Our minor units against Stripe's.
import { describe, expect, it } from 'vitest';
import { exponentOf } from '../../../domain/currency.ts';
import { fromStripeAmount, stripeCurrencies, toStripeAmount } from '../../../gateways/stripe/currency.ts';

/** Stripe's own zero-decimal list, docs.stripe.com/currencies, without the one it writes with two digits all the same. */
const zeroDecimal = ['BIF', 'CLP', 'DJF', 'GNF', 'JPY', 'KMF', 'KRW', 'MGA', 'PYG', 'RWF', 'VND', 'VUV', 'XAF', 'XOF', 'XPF'];

describe('amounts at Stripe', () => {
  it.each([
    ['USD', 2_500, 2_500],
    ['JPY', 500, 500],
    ['KWD', 5_120, 5_120],
    ['ISK', 5, 500],
    ['UGX', 5, 500],
    ['MGA', 1_500, 15],
    ['HUF', 1_045, 1_045],
    ['TWD', 80_045, 80_045],
    ['UGX', 99_999_999, 9_999_999_900],
  ])('of %s: our %i is Stripe’s %i, and back', (currency, minor, amount) => {
    expect(toStripeAmount(minor, currency)).toBe(amount);
    expect(fromStripeAmount(amount, currency.toLowerCase())).toEqual({ amountMinor: minor, currency });
  });

  it.each([
    ['KWD', 5_124, 'a third digit that is not 0'],
    ['MGA', 1_550, 'half an ariary'],
    ['CLF', 10_000, 'a currency of accounts, not of cards'],
    ['IRR', 100, 'a currency Stripe does not take'],
    ['usd', 100, 'a code in lower case'],
  ])('of %s: %i is refused (%s)', (currency, minor) => {
    expect(toStripeAmount(minor, currency)).toBeNull();
  });

  it.each([
    [550, 'isk'],
    [1.5, 'usd'],
    [-1, 'usd'],
    ['100', 'usd'],
    [100, 'xxx'],
    [100, null],
  ])('%s %s is no figure of a payment of ours', (amount, currency) => {
    expect(fromStripeAmount(amount, currency)).toBeNull();
  });

  it('are whole units for exactly the currencies on Stripe’s zero-decimal list', () => {
    const whole = stripeCurrencies.filter((currency) => toStripeAmount(10 ** (exponentOf(currency) ?? 0), currency) === 1);
    expect(whole.toSorted()).toEqual(zeroDecimal);
  });

  it('never lose or gain anything on the way there and back', () => {
    for (const currency of stripeCurrencies) {
      expect(exponentOf(currency), currency).not.toBeNull();
      for (const minor of [1, 10, 99, 100, 12_340, 99_999_999]) {
        const amount = toStripeAmount(minor, currency);
        if (amount !== null) expect(fromStripeAmount(amount, currency.toLowerCase())).toEqual({ amountMinor: minor, currency });
      }
    }
  });
});
