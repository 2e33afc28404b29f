// How Stripe counts money, where it differs from ISO 4217, and which currencies it takes on cards. Pure; it never rounds:
// an amount Stripe cannot express is no amount.
import { exponentOf } from '../../domain/currency.ts';

/**
 * Digits after the point in Stripe's figures, where they are not the ISO exponent. Source: docs.stripe.com/currencies.
 * MGA is on Stripe's zero-decimal list (ISO 2); ISK and UGX have no minor unit (ISO 0) and are still written with two
 * digits that must be 00.
 */
const stripeExponents: Readonly<Record<string, number>> = { MGA: 0, ISK: 2, UGX: 2 };

/** Three-decimal currencies are taken in steps of ten: the last digit has to be 0. */
const threeDecimalStep = 10;

/** Presentment currencies of cards that circulate today (ISO codes we know), upper case. */
export const stripeCurrencies: readonly string[] = [
  'AED', 'AFN', 'ALL', 'AMD', 'ANG', 'AOA', 'ARS', 'AUD', 'AWG', 'AZN', 'BAM', 'BBD', 'BDT', 'BGN', 'BHD', 'BIF', 'BMD', 'BND',
  'BOB', 'BRL', 'BSD', 'BWP', 'BYN', 'BZD', 'CAD', 'CDF', 'CHF', 'CLP', 'CNY', 'COP', 'CRC', 'CVE', 'CZK', 'DJF', 'DKK', 'DOP',
  'DZD', 'EGP', 'ETB', 'EUR', 'FJD', 'FKP', 'GBP', 'GEL', 'GIP', 'GMD', 'GNF', 'GTQ', 'GYD', 'HKD', 'HNL', 'HTG', 'HUF', 'IDR',
  'ILS', 'INR', 'ISK', 'JMD', 'JOD', 'JPY', 'KES', 'KGS', 'KHR', 'KMF', 'KRW', 'KWD', 'KYD', 'KZT', 'LAK', 'LBP', 'LKR', 'LRD',
  'LSL', 'MAD', 'MDL', 'MGA', 'MKD', 'MMK', 'MNT', 'MOP', 'MUR', 'MVR', 'MWK', 'MXN', 'MYR', 'MZN', 'NAD', 'NGN', 'NIO', 'NOK',
  'NPR', 'NZD', 'OMR', 'PAB', 'PEN', 'PGK', 'PHP', 'PKR', 'PLN', 'PYG', 'QAR', 'RON', 'RSD', 'RUB', 'RWF', 'SAR', 'SBD', 'SCR',
  'SEK', 'SGD', 'SHP', 'SLE', 'SOS', 'SRD', 'STN', 'SVC', 'SZL', 'THB', 'TJS', 'TND', 'TOP', 'TRY', 'TTD', 'TWD', 'TZS', 'UAH',
  'UGX', 'USD', 'UYU', 'UZS', 'VND', 'VUV', 'WST', 'XAF', 'XCD', 'XOF', 'XPF', 'YER', 'ZAR', 'ZMW',
];

/**
 * @param minor our minor units (ISO exponent)
 * @param currency upper case
 * @returns Stripe's integer, or null when Stripe cannot express exactly this amount in this currency
 */
export function toStripeAmount(minor: number, currency: string): number | null {
  const exponents = exponentsOf(currency);
  if (exponents === null) return null;
  const { ours, stripes } = exponents;
  const amount = shift(minor, stripes - ours);
  return amount !== null && (stripes !== 3 || amount % threeDecimalStep === 0) ? amount : null;
}

/**
 * @param currency as Stripe writes it, lower case
 * @returns our minor units and upper-case code, or null when the figure cannot be one of ours
 */
export function fromStripeAmount(amount: unknown, currency: unknown): { amountMinor: number; currency: string } | null {
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0 || typeof currency !== 'string') return null;
  const code = currency.toUpperCase();
  const exponents = exponentsOf(code);
  const amountMinor = exponents === null ? null : shift(amount, exponents.ours - exponents.stripes);
  return amountMinor === null ? null : { amountMinor, currency: code };
}

function exponentsOf(currency: string): { ours: number; stripes: number } | null {
  const ours = exponentOf(currency);
  if (ours === null || !stripeCurrencies.includes(currency)) return null;
  return { ours, stripes: stripeExponents[currency] ?? ours };
}

/** Times ten to the power of `digits`, exact or null. */
function shift(amount: number, digits: number): number | null {
  const factor = 10 ** Math.abs(digits);
  const shifted = digits >= 0 ? amount * factor : amount / factor;
  return Number.isSafeInteger(shifted) ? shifted : null;
}
