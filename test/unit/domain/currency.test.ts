import currencyCodes from 'currency-codes';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultCurrencies, exponentOf, majorText } from '../../../domain/currency.ts';
import { exponents } from '../../../domain/currency-table.ts';

/** Listed by ISO for metals, funds' units and tests: nobody pays with them. */
const notMoney = /^X(?!AF|OF|PF|CD)/;

describe('the currency table', () => {
  it('has the code and exponent of every currency that the ISO 4217 list of the currency-codes package has', () => {
    const wrong = currencyCodes.data.filter(({ code, digits }) => !notMoney.test(code) && exponents[code] !== digits);
    expect(wrong.map(({ code, digits }) => `${code} ${digits}, here ${exponents[code]}`)).toEqual([]);
  });

  it('has no code that the list does not have', () => {
    expect(Object.keys(exponents).filter((code) => currencyCodes.code(code) === undefined)).toEqual([]);
  });

  it('has the six currencies every merchant starts with', () => {
    expect(defaultCurrencies).toEqual(['USD', 'JMD', 'TTD', 'BBD', 'EUR', 'GYD']);
    for (const code of defaultCurrencies) expect(exponentOf(code)).toBe(2);
  });

  it('knows no lower-case code, no empty one and nothing of Object', () => {
    for (const text of ['usd', '', 'XXX', 'constructor', '__proto__', 'toString']) expect(exponentOf(text)).toBeNull();
  });
});

describe('an amount in words of its currency', () => {
  it('has as many decimals as the currency', () => {
    expect(majorText(2500, 'USD')).toBe('25.00');
    expect(majorText(5, 'USD')).toBe('0.05');
    expect(majorText(2500, 'JPY')).toBe('2500');
    expect(majorText(2500, 'KWD')).toBe('2.500');
    expect(majorText(1, 'CLF')).toBe('0.0001');
    expect(majorText(-5, 'USD')).toBe('-0.05');
    expect(majorText(0, 'EUR')).toBe('0.00');
  });

  it('loses nothing, whatever the amount and the exponent', () => {
    fc.assert(
      fc.property(fc.integer({ min: -99_999_999, max: 99_999_999 }), fc.constantFrom('USD', 'JPY', 'KWD', 'CLF'), (minor, currency) => {
        expect(Number(majorText(minor, currency).replace('.', ''))).toBe(minor);
      }),
    );
  });
});
