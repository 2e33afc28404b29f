// ISO 4217 with its true exponents. Amounts are integers in the minor unit; nobody divides by 100.
import { exponents } from './currency-table.ts';

/** Digits after the decimal point (USD 2, JPY 0, KWD 3), or null when the code is unknown or not upper case. */
export function exponentOf(currency: string): number | null {
  return Object.hasOwn(exponents, currency) ? (exponents[currency] ?? null) : null;
}

/** Enabled for every new merchant. Specification: Checkout sessions. */
export const defaultCurrencies = ['USD', 'JMD', 'TTD', 'BBD', 'EUR', 'GYD'] as const;

export const amountMinor = { min: 1, max: 99_999_999 } as const;

/** Major units as plain decimal text, "25.00"; exact for any integer and exponent, no floating point. */
export function majorText(minor: number, currency: string): string {
  const exponent = exponentOf(currency) ?? 2;
  const digits = Math.abs(minor).toString().padStart(exponent + 1, '0');
  const sign = minor < 0 ? '-' : '';
  if (exponent === 0) return sign + digits;
  return `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}
