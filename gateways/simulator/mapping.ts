// The simulated gateway's answers in our words: pure functions. An answer that does not have the promised shape is
// unknown, never a decline.
import { declineCodes } from '../../domain/gateway-outcome.ts';
import type { ChargeOutcome, DeclineCode, LookupOutcome } from '../../domain/gateway-outcome.ts';
import { CardRejected, VaultUnavailable } from '../gateway.ts';
import type { OperationOutcome, VaultedCard } from '../gateway.ts';
import type { CallAnswer } from '../http.ts';

type Body = Readonly<Record<string, unknown>>;

/** @throws CardRejected, VaultUnavailable */
export function toVaultedCard(answer: CallAnswer): VaultedCard {
  if (answer.kind !== 'answered') {
    throw new VaultUnavailable(`the gateway did not keep the card: ${answer.reason}`, answer.reason === 'timeout' || answer.reason === 'connection_refused');
  }
  const { status, body } = answer;
  if (status === 422) throw rejection(body.field);
  const { reference, brand, last4, expiry_month: expiryMonth, expiry_year: expiryYear, fingerprint } = body;
  if (status >= 300) throw new VaultUnavailable(`the gateway did not keep the card: status ${status}`);
  if (!isText(reference) || !isText(brand) || !isText(last4) || !isWhole(expiryMonth) || !isWhole(expiryYear) || !isText(fingerprint)) {
    throw new VaultUnavailable('the gateway did not keep the card: malformed_answer');
  }
  return { reference, brand, last4, expiryMonth, expiryYear, fingerprint };
}

/** @param asked our reference: an answer about another one is no answer to this request */
export function toChargeOutcome(answer: CallAnswer, asked: { reference: string }): ChargeOutcome {
  const outcome = toState(answer, asked);
  // A key that was cancelled before, or a voided authorisation: surely not charged now.
  return outcome.kind === 'cancelled' ? { kind: 'unreached', reason: 'refused' } : outcome;
}

/** For look-ups and cancellations. */
export function toLookupOutcome(answer: CallAnswer, asked: { reference: string }): LookupOutcome {
  return isNotFound(answer) ? { kind: 'not_found' } : toState(answer, asked);
}

export function toOperationOutcome(answer: CallAnswer, asked: { reference: string }): OperationOutcome {
  if (answer.kind !== 'answered') return answer;
  const { status, body } = answer;
  if (status !== 200) return refusal(status, body);
  const { id, reference, amount, currency } = body;
  if (!isText(id) || !isText(reference)) return malformed;
  if (reference !== asked.reference) return mismatch;
  if (body.status === 'failed') {
    const failureCode = isText(body.failure_code) ? body.failure_code : 'failed';
    return { kind: 'failed', failureCode, message: 'The gateway refused the operation.' };
  }
  if (!isWhole(amount) || !isText(currency)) return malformed;
  if (body.status === 'succeeded' || body.status === 'pending') {
    return { kind: body.status, gatewayOperationId: id, amountMinor: amount, currency };
  }
  return malformed;
}

export function toOperationLookup(answer: CallAnswer, asked: { reference: string }): OperationOutcome | { kind: 'not_found' } {
  return isNotFound(answer) ? { kind: 'not_found' } : toOperationOutcome(answer, asked);
}

const malformed = { kind: 'unknown', reason: 'malformed_answer' } as const;
const mismatch = { kind: 'unknown', reason: 'mismatch' } as const;

type State = Exclude<LookupOutcome, { kind: 'not_found' }>;

function toState(answer: CallAnswer, asked: { reference: string }): State {
  if (answer.kind !== 'answered') return answer;
  const { status, body } = answer;
  if (status !== 200) return refusal(status, body);
  if (!isText(body.id) || !isText(body.reference)) return malformed;
  if (body.reference !== asked.reference) return mismatch;
  switch (body.status) {
    case 'captured':
    case 'authorized':
      if (!isWhole(body.amount) || !isText(body.currency)) return malformed;
      return {
        kind: body.status,
        gatewayTransactionId: body.id,
        amountMinor: body.amount,
        currency: body.currency,
        reusableReference: isText(body.card) ? body.card : null,
      };
    case 'declined': {
      const declineCode = toDeclineCode(body.decline_code);
      return { kind: 'declined', declineCode, message: declineMessages[declineCode], gatewayTransactionId: body.id };
    }
    case 'requires_action':
      if (!isText(body.action_url) || !/^https?:\/\//.test(body.action_url) || !URL.canParse(body.action_url)) return malformed;
      return { kind: 'requires_action', actionUrl: body.action_url, gatewayTransactionId: body.id };
    case 'cancelled':
    case 'voided':
      return { kind: 'cancelled', gatewayTransactionId: body.id };
    default:
      return malformed;
  }
}

/** The gateway's own word that nothing happened is believed; any other error leaves it open. */
function refusal(status: number, body: Body): { kind: 'unreached'; reason: 'refused' } | { kind: 'unknown'; reason: 'server_error' | 'mismatch' } {
  if (body.charged === false) return { kind: 'unreached', reason: 'refused' };
  return { kind: 'unknown', reason: status === 409 ? 'mismatch' : 'server_error' };
}

/** Only the gateway's own "no such key"; a 404 from something in between says nothing about the charge. */
function isNotFound(answer: CallAnswer): boolean {
  return answer.kind === 'answered' && answer.status === 404 && answer.body.error === 'key_not_found';
}

function toDeclineCode(code: unknown): DeclineCode {
  return declineCodes.find((known) => known === code) ?? 'generic_decline';
}

const declineMessages: Record<DeclineCode, string> = {
  generic_decline: 'The card was declined.',
  insufficient_funds: 'The card has insufficient funds.',
  lost_card: 'The card was reported lost.',
  stolen_card: 'The card was reported stolen.',
  expired_card: 'The card has expired.',
  incorrect_cvc: 'The security code is not correct.',
  incorrect_number: 'The card number is not correct.',
  processing_error: 'The bank could not process the payment; trying again may help.',
  authentication_failed: 'The customer did not pass the bank’s authentication.',
  authentication_required: 'The bank asks the customer to authenticate.',
  fraudulent: 'The payment was blocked as suspicious.',
  account_closed: 'The account of the card is closed.',
  currency_not_supported: 'The card does not support this currency.',
  card_not_supported: 'The card is not supported.',
};

/** Our own words: what a gateway writes about a card it refuses could repeat it. */
function rejection(field: unknown): Error {
  if (field === 'number') return new CardRejected('number', 'The card number is not valid.');
  if (field === 'expiry') return new CardRejected('expiry', 'The card has expired or its expiry date is not valid.');
  if (field === 'cvc') return new CardRejected('cvc', 'The security code is not valid.');
  return new VaultUnavailable('the gateway did not keep the card: status 422');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
