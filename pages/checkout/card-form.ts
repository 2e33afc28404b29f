// Reads the pay form: what the customer typed becomes a card for the gateway and a payer, or a problem beside each
// field. The number and the security code leave this file inside a Pan or not at all.
import { Pan, brandOf, passesLuhn } from '../../domain/card.ts';
import type { Payer, PaymentCard } from '../deps.ts';

export type CardField = 'method' | 'email' | 'number' | 'expiry' | 'cvc' | 'name';

export type CardProblem =
  | 'number_missing'
  | 'number_incomplete'
  | 'number_invalid'
  | 'expiry_missing'
  | 'expiry_form'
  | 'expiry_past'
  | 'cvc_missing'
  | 'cvc_three'
  | 'cvc_four'
  | 'name_missing'
  | 'name_long'
  | 'name_invalid'
  | 'email_form'
  | 'method_unknown';

/** What may be shown again in the form. Never the number, never the security code. */
export interface KeptFields {
  readonly method: string;
  readonly name: string;
  readonly email: string;
}

export type CardForm =
  | { readonly kind: 'complete'; readonly card: PaymentCard; readonly payer: Payer; readonly kept: KeptFields }
  | { readonly kind: 'incomplete'; readonly problems: CardProblems; readonly kept: KeptFields };

export type CardProblems = Readonly<Partial<Record<CardField, CardProblem>>>;

/** Value of the `method` field for typing a card. */
export const newCard = 'new';

/**
 * @param savedTokenIds the saved cards this session may be paid with
 * @param now UTC, what the expiry date is compared with
 */
export function readCardForm(fields: URLSearchParams, savedTokenIds: readonly string[], now: Date): CardForm {
  const text = (name: string) => fields.get(name) ?? '';
  const method = text('method') || newCard;
  const name = cleanLine(text('name'));
  const email = cleanLine(text('email'));
  const emailProblem = checkEmail(email);
  const kept = {
    method: savedTokenIds.includes(method) ? method : newCard,
    name: holdsCardNumber(name) ? '' : name,
    email: holdsCardNumber(email) ? '' : email,
  };
  if (method !== newCard) {
    const problems = { ...(savedTokenIds.includes(method) ? {} : { method: 'method_unknown' as const }), ...emailProblem };
    if (Object.keys(problems).length > 0) return { kind: 'incomplete', problems, kept };
    return { kind: 'complete', card: { savedTokenId: method }, payer: payerOf('', email), kept };
  }

  const number = asciiDigits(text('number')).replace(/[\s\u00a0-]/g, '');
  const expiry = readExpiry(text('expiry'), now);
  const cvc = asciiDigits(text('cvc')).replace(/\s/g, '');
  const problems: CardProblems = {
    ...emailProblem,
    ...checkNumber(number),
    ...(typeof expiry === 'string' ? { expiry } : {}),
    ...checkCvc(cvc, number),
    ...checkName(name),
  };
  if (typeof expiry === 'string' || Object.keys(problems).length > 0) return { kind: 'incomplete', problems, kept };
  const card = new Pan({ number, cvc, expiryMonth: expiry.month, expiryYear: expiry.year, holderName: name });
  return { kind: 'complete', card, payer: payerOf(name, email), kept };
}

/** Digits a complete number has at least; ISO/IEC 7812 allows 12 to 19, these brands issue no shorter ones. */
const shortest: Readonly<Record<string, number>> = { amex: 15, visa: 13, mastercard: 16, discover: 16, jcb: 16, unionpay: 16, diners: 14 };

function checkNumber(number: string): { number?: CardProblem } {
  if (number === '') return { number: 'number_missing' };
  if (!/^\d+$/.test(number) || number.length > 19) return { number: 'number_invalid' };
  if (number.length < (shortest[brandOf(number)] ?? 12)) return { number: 'number_incomplete' };
  return passesLuhn(number) ? {} : { number: 'number_invalid' };
}

/** American Express prints four digits on the front; a number we cannot read yet may have either. */
function checkCvc(cvc: string, number: string): { cvc?: CardProblem } {
  if (cvc === '') return { cvc: 'cvc_missing' };
  const brand = brandOf(number);
  if (brand === 'amex') return /^\d{4}$/.test(cvc) ? {} : { cvc: 'cvc_four' };
  return (brand === 'unknown' ? /^\d{3,4}$/ : /^\d{3}$/).test(cvc) ? {} : { cvc: 'cvc_three' };
}

function checkName(name: string): { name?: CardProblem } {
  if (name === '') return { name: 'name_missing' };
  if (holdsCardNumber(name)) return { name: 'name_invalid' };
  return [...name].length > 100 ? { name: 'name_long' } : {};
}

function checkEmail(email: string): { email?: CardProblem } {
  if (email === '') return {};
  return email.length <= 254 && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) && !holdsCardNumber(email) ? {} : { email: 'email_form' };
}

/** Accepts 1230, 130, 12/30, 12 / 30, 12-30 and 12/2030. A card is good until its month has ended everywhere on earth. */
function readExpiry(typed: string, now: Date): { month: number; year: number } | CardProblem {
  const text = asciiDigits(typed).replace(/[\s\u00a0]/g, '');
  if (text === '') return 'expiry_missing';
  const parts = /^(\d{1,2})[/.-](\d{2}|\d{4})$/.exec(text) ?? /^(\d{1,2}?)(\d{2}|20\d{2})$/.exec(text);
  const month = Number(parts?.[1]);
  const year = Number(parts?.[2]) + (parts?.[2]?.length === 2 ? 2000 : 0);
  if (parts === null || month < 1 || month > 12 || year < 2000 || year > 2099) return 'expiry_form';
  const endedEverywhere = Date.UTC(year, month, 1) + 12 * 3_600_000;
  return endedEverywhere <= now.getTime() ? 'expiry_past' : { month, year };
}

function payerOf(name: string, email: string): Payer {
  return { ...(name === '' ? {} : { name }), ...(email === '' ? {} : { email }) };
}

/** One line of text: control characters and runs of white space become one space. */
function cleanLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}

/** A browser may fill the number into the wrong field, and these fields are stored. */
function holdsCardNumber(text: string): boolean {
  return (asciiDigits(text).match(/\d(?:[ -]?\d){11,18}/g) ?? []).some((run) => passesLuhn(run.replace(/\D/g, '')));
}

/** Arabic-Indic, Persian, Devanagari and full-width digits are what some keyboards type. */
function asciiDigits(text: string): string {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\uff10-\uff19]/g, (digit) => {
    const code = digit.charCodeAt(0);
    const zero = [0xff10, 0x0966, 0x06f0, 0x0660].find((first) => code >= first) ?? 0;
    return String(code - zero);
  });
}
