// The card number and the few facts that may be kept of it. `Pan` cannot be printed or serialised; only the places
// named in test/unit/architecture.test.ts may import it.

const secretText = new WeakMap<Pan, { number: string; cvc: string }>();

export type CardBrand = 'visa' | 'mastercard' | 'amex' | 'discover' | 'diners' | 'jcb' | 'unionpay' | 'maestro' | 'unknown';

/**
 * A card as the customer typed it, on its way to a gateway and nowhere else. Printing, inspecting or serialising it
 * gives "[card]"; `reveal` is for gateway clients alone.
 */
export class Pan {
  readonly expiryMonth: number;
  readonly expiryYear: number;
  readonly holderName: string | null;

  /** @param input digits without separators; month 1-12; four-digit year. */
  constructor(input: { number: string; cvc: string; expiryMonth: number; expiryYear: number; holderName?: string | null }) {
    secretText.set(this, { number: input.number, cvc: input.cvc });
    this.expiryMonth = input.expiryMonth;
    this.expiryYear = input.expiryYear;
    this.holderName = input.holderName ?? null;
  }

  get last4(): string {
    return this.reveal().number.slice(-4);
  }

  get brand(): CardBrand {
    return brandOf(this.reveal().number);
  }

  /** The digits themselves, for the body of a gateway request and nothing else. */
  reveal(): { number: string; cvc: string } {
    const text = secretText.get(this);
    if (text === undefined) throw new TypeError('not a card');
    return text;
  }

  toString(): string {
    return '[card]';
  }
  toJSON(): string {
    return '[card]';
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[card]';
  }
}

/** Brand from the leading digits (ISO/IEC 7812 ranges); `unknown` when no range fits. */
export function brandOf(number: string): CardBrand {
  const n = number.replace(/\D/g, '');
  if (/^4/.test(n)) return 'visa';
  if (/^(5[1-5]|2(22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720))/.test(n)) return 'mastercard';
  if (/^3[47]/.test(n)) return 'amex';
  if (/^(6011|65|64[4-9])/.test(n)) return 'discover';
  if (/^(36|38|39|30[0-5])/.test(n)) return 'diners';
  if (/^35(2[89]|[3-8]\d)/.test(n)) return 'jcb';
  if (/^62/.test(n)) return 'unionpay';
  if (/^(50|5[6-9]|6)/.test(n)) return 'maestro';
  return 'unknown';
}

/** Luhn check (ISO/IEC 7812-1 annex B) over digits only. */
export function passesLuhn(number: string): boolean {
  if (!/^\d{12,19}$/.test(number)) return false;
  let sum = 0;
  for (let i = 0; i < number.length; i++) {
    const digit = Number(number[number.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The cards of the simulated gateway, for the hosted page in test mode, the documents and the simulator itself. */
export const testCards = [
  { number: '4242424242424242', behaviour: 'approve', does: 'Approves (Visa)' },
  { number: '5555555555554444', behaviour: 'approve', does: 'Approves (Mastercard)' },
  { number: '378282246310005', behaviour: 'approve', does: 'Approves (American Express)' },
  { number: '4000000000000002', behaviour: 'generic_decline', does: 'Declines: generic_decline' },
  { number: '4000000000009995', behaviour: 'insufficient_funds', does: 'Declines: insufficient_funds' },
  { number: '4000000000009987', behaviour: 'lost_card', does: 'Declines: lost_card' },
  { number: '4000000000009979', behaviour: 'stolen_card', does: 'Declines: stolen_card' },
  { number: '4000000000000069', behaviour: 'expired_card', does: 'Declines: expired_card' },
  { number: '4000000000000127', behaviour: 'incorrect_cvc', does: 'Declines: incorrect_cvc' },
  { number: '4000000000000119', behaviour: 'processing_error', does: 'Declines: processing_error' },
  { number: '4000000000003220', behaviour: 'challenge', does: 'Asks for 3DS authentication' },
  { number: '4000000000000341', behaviour: 'decline_after_save', does: 'Saves, then declines every later charge' },
  { number: '4000000000000358', behaviour: 'decline_next_two', does: 'Saves, declines the next two charges, then approves' },
  { number: '4000000000000259', behaviour: 'lost_answer', does: 'Charges, but the answer is lost' },
  { number: '4000000000000267', behaviour: 'never_answers', does: 'Never charges and never answers' },
  { number: '4000000000000275', behaviour: 'slow', does: 'Charges after 3 seconds' },
  { number: '4000000000007726', behaviour: 'refund_pending_succeeds', does: 'Charges; a refund is pending, then succeeds' },
  { number: '4000000000005126', behaviour: 'refund_pending_fails', does: 'Charges; a refund is pending, then fails' },
] as const;
export type CardBehaviour = (typeof testCards)[number]['behaviour'];
