// Money as a customer reads it: grouped and placed as the locale does, always with the currency's code, because US$ and
// J$ both print as "$". Exact for every amount: the digits come from domain/currency, Intl never sees a float.
import { exponentOf, majorText } from '../../domain/currency.ts';

export interface AmountPart {
  readonly isCode: boolean;
  readonly text: string;
}

export interface AmountFormat {
  /** "USD 1,234.50" */
  text(minor: number): string;
  /** The same, cut where the code begins and ends, for type that sets it smaller. */
  parts(minor: number): AmountPart[];
}

export function amountFormat(currency: string, locale: string): AmountFormat {
  const exponent = exponentOf(currency) ?? 2;
  // The digits are named because Intl has other exponents than ISO 4217 for some currencies.
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    minimumFractionDigits: exponent,
    maximumFractionDigits: exponent,
  });
  const digits = (minor: number) => majorText(minor, currency) as `${number}`;
  return {
    text: (minor) => format.format(digits(minor)),
    parts: (minor) => joinParts(format.formatToParts(digits(minor))),
  };
}

function joinParts(parts: readonly Intl.NumberFormatPart[]): AmountPart[] {
  const joined: AmountPart[] = [];
  for (const { type, value } of parts) {
    const isCode = type === 'currency';
    const last = joined.at(-1);
    if (last !== undefined && last.isCode === isCode) joined[joined.length - 1] = { isCode, text: last.text + value };
    else joined.push({ isCode, text: value });
  }
  return joined;
}
