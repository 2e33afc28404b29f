// How a decline is told to the customer. Lost, stolen and fraud read as a plain decline: whoever holds the card must
// not learn that it is reported. Style, hosted page.
import type { DeclineCode } from '../../domain/gateway-outcome.ts';
import type { DeclineTone } from '../text/messages.ts';

const tones: Readonly<Record<DeclineCode, DeclineTone>> = {
  generic_decline: 'plain',
  insufficient_funds: 'funds',
  lost_card: 'plain',
  stolen_card: 'plain',
  expired_card: 'expired',
  incorrect_cvc: 'cvc',
  incorrect_number: 'number',
  processing_error: 'gateway',
  authentication_failed: 'authentication',
  authentication_required: 'authentication',
  fraudulent: 'plain',
  account_closed: 'plain',
  currency_not_supported: 'unsupported',
  card_not_supported: 'unsupported',
};

/** Codes this build does not know yet read as a plain decline; without one no bank has declined: the gateway never charged. */
export function toneOf(declineCode: string | null): DeclineTone {
  if (declineCode === null) return 'gateway';
  return Object.hasOwn(tones, declineCode) ? tones[declineCode as DeclineCode] : 'plain';
}
