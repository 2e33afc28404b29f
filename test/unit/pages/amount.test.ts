import { expect, it } from 'vitest';
import { amountFormat } from '../../../pages/text/amount.ts';

// Intl parts code and digits with a no-break space.
const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ').replace(/[\u200e\u200f\u061c]/g, '');
const shown = (minor: number, currency: string, locale = 'en') => plain(amountFormat(currency, locale).text(minor));

it('always names the currency by its code', () => {
  expect(shown(123_450, 'USD')).toBe('USD 1,234.50');
  expect(shown(123_450, 'JMD')).toBe('JMD 1,234.50');
});

it('has as many digits as the currency does, not as Intl thinks', () => {
  expect(shown(1_234, 'JPY')).toBe('JPY 1,234');
  expect(shown(1_234_567, 'KWD')).toBe('KWD 1,234.567');
  expect(shown(1_234_567, 'IQD')).toBe('IQD 1,234.567');
  expect(shown(1, 'USD')).toBe('USD 0.01');
});

it('groups and places as the locale does', () => {
  expect(shown(123_450, 'EUR', 'fr')).toBe('1 234,50 EUR');
  expect(shown(-870, 'USD')).toMatch(/^[-−]USD 8\.70$/);
});

it('is exact for any amount', () => {
  expect(shown(Number.MAX_SAFE_INTEGER, 'USD')).toBe('USD 90,071,992,547,409.91');
});

it('cuts the code from the digits', () => {
  expect(amountFormat('USD', 'en').parts(2_500).map((part) => ({ ...part, text: plain(part.text) }))).toEqual([
    { isCode: true, text: 'USD' },
    { isCode: false, text: ' 25.00' },
  ]);
});
