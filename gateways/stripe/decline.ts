// Stripe's decline and error codes in our words. Tables and a pure function; the texts are ours, never Stripe's, so that
// nothing a gateway writes about a card can reach a merchant.
import type { DeclineCode } from '../../domain/gateway-outcome.ts';

/** Source: docs.stripe.com/declines/codes and docs.stripe.com/error-codes. What is missing here is a plain decline. */
const codes: Readonly<Record<string, DeclineCode>> = {
  insufficient_funds: 'insufficient_funds',
  card_velocity_exceeded: 'insufficient_funds',
  withdrawal_count_limit_exceeded: 'insufficient_funds',
  lost_card: 'lost_card',
  pickup_card: 'lost_card',
  stolen_card: 'stolen_card',
  expired_card: 'expired_card',
  invalid_expiry_month: 'expired_card',
  invalid_expiry_year: 'expired_card',
  incorrect_cvc: 'incorrect_cvc',
  invalid_cvc: 'incorrect_cvc',
  incorrect_number: 'incorrect_number',
  invalid_number: 'incorrect_number',
  processing_error: 'processing_error',
  approve_with_id: 'processing_error',
  issuer_not_available: 'processing_error',
  no_action_taken: 'processing_error',
  reenter_transaction: 'processing_error',
  try_again_later: 'processing_error',
  authentication_required: 'authentication_required',
  payment_intent_authentication_failure: 'authentication_failed',
  fraudulent: 'fraudulent',
  merchant_blacklist: 'fraudulent',
  security_violation: 'fraudulent',
  invalid_account: 'account_closed',
  new_account_information_available: 'account_closed',
  currency_not_supported: 'currency_not_supported',
  card_not_supported: 'card_not_supported',
  not_permitted: 'card_not_supported',
  service_not_allowed: 'card_not_supported',
  transaction_not_allowed: 'card_not_supported',
  // The issuer forbids every further attempt. We have no word for that; this one stops dunning too.
  do_not_try_again: 'card_not_supported',
  restricted_card: 'card_not_supported',
  revocation_of_all_authorizations: 'card_not_supported',
  revocation_of_authorization: 'card_not_supported',
  stop_payment_order: 'card_not_supported',
};

/** @param error Stripe's error or `last_payment_error`; the decline code is finer than the error code */
export function toDeclineCode(error: { readonly code?: unknown; readonly decline_code?: unknown; readonly advice_code?: unknown }): DeclineCode {
  const known = lookIn(error.decline_code) ?? lookIn(error.code);
  if (known !== null) return known;
  return error.advice_code === 'do_not_try_again' ? 'card_not_supported' : 'generic_decline';
}

function lookIn(code: unknown): DeclineCode | null {
  return typeof code === 'string' && Object.hasOwn(codes, code) ? (codes[code] ?? null) : null;
}

export const declineMessages: Readonly<Record<DeclineCode, string>> = {
  generic_decline: 'The bank declined the card.',
  insufficient_funds: 'The card has insufficient funds or has reached its limit.',
  lost_card: 'The bank does not accept this card any more.',
  stolen_card: 'The bank does not accept this card any more.',
  expired_card: 'The card has expired or its expiry date is not correct.',
  incorrect_cvc: 'The security code is not correct.',
  incorrect_number: 'The card number is not correct.',
  processing_error: 'The bank could not process the payment; trying again may help.',
  authentication_failed: 'The customer did not pass the bank’s authentication.',
  authentication_required: 'The bank asks the customer to authenticate.',
  fraudulent: 'The payment was blocked as suspicious.',
  account_closed: 'The account of the card is closed.',
  currency_not_supported: 'This amount cannot be charged in this currency.',
  card_not_supported: 'The card cannot be used for this payment.',
};

/** Which field of a card Stripe refuses, or null when it is not about a field. */
export function refusedField(code: unknown): 'number' | 'expiry' | 'cvc' | null {
  switch (toDeclineCode({ code })) {
    case 'incorrect_number':
      return 'number';
    case 'expired_card':
      return 'expiry';
    case 'incorrect_cvc':
      return 'cvc';
    default:
      return null;
  }
}
