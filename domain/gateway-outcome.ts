// What a payment gateway can answer, in our words. An outcome is data: a decline is not an error and an
// unknown is not a decline (docs/architecture.md, "Three kinds of bad news").

/** Normalised reasons a card is refused for; every gateway maps its own codes onto these. */
export const declineCodes = [
  'generic_decline',
  'insufficient_funds',
  'lost_card',
  'stolen_card',
  'expired_card',
  'incorrect_cvc',
  'incorrect_number',
  'processing_error',
  'authentication_failed',
  'authentication_required',
  'fraudulent',
  'account_closed',
  'currency_not_supported',
  'card_not_supported',
] as const;
export type DeclineCode = (typeof declineCodes)[number];

/** Declines that no later attempt with the same card can turn into an approval. */
const hardDeclines: ReadonlySet<DeclineCode> = new Set([
  'lost_card',
  'stolen_card',
  'expired_card',
  'incorrect_number',
  'fraudulent',
  'account_closed',
  'currency_not_supported',
  'card_not_supported',
]);

/** Whether charging the same card again later can make sense. */
export function isRetryable(code: DeclineCode): boolean {
  return !hardDeclines.has(code);
}

/** Money that moved or was reserved; `amountMinor` and `currency` are what the GATEWAY says, to be compared with what was asked. */
export interface ApprovedOutcome {
  readonly kind: 'captured' | 'authorized';
  readonly gatewayTransactionId: string;
  readonly amountMinor: number;
  readonly currency: string;
  /** The gateway's reusable reference for this card, when it keeps one. Secret: sealed before it is stored. */
  readonly reusableReference: string | null;
}

export interface DeclinedOutcome {
  readonly kind: 'declined';
  readonly declineCode: DeclineCode;
  /** Text safe to show to a merchant; never contains card data. */
  readonly message: string;
  readonly gatewayTransactionId: string | null;
}

export interface RequiresActionOutcome {
  readonly kind: 'requires_action';
  /** Where the customer's browser has to go (3DS challenge). */
  readonly actionUrl: string;
  readonly gatewayTransactionId: string | null;
}

/** The request may or may not have had its effect: it must be looked up, never guessed. */
export interface UnknownOutcome {
  readonly kind: 'unknown';
  readonly reason: 'timeout' | 'connection_lost' | 'malformed_answer' | 'server_error' | 'mismatch';
}

/** Surely not charged: the request never reached the gateway, or it said so itself. */
export interface UnreachedOutcome {
  readonly kind: 'unreached';
  readonly reason: 'connection_refused' | 'circuit_open' | 'refused';
}

export type ChargeOutcome = ApprovedOutcome | DeclinedOutcome | RequiresActionOutcome | UnknownOutcome | UnreachedOutcome;

/** The gateway knows nothing under this reference. Final only after the gateway's `notFoundFinalAfterMs`. */
export interface NotFoundOutcome {
  readonly kind: 'not_found';
}
/** The operation was cancelled at the gateway before any money moved. */
export interface CancelledOutcome {
  readonly kind: 'cancelled';
  readonly gatewayTransactionId: string | null;
}

/** What a look-up can say. `unknown` and `unreached` both mean "ask again later". */
export type LookupOutcome = ChargeOutcome | NotFoundOutcome | CancelledOutcome;

/** What a capture, void or refund can come to. */
export type OperationOutcome =
  | { readonly kind: 'succeeded'; readonly gatewayOperationId: string; readonly amountMinor: number; readonly currency: string }
  | { readonly kind: 'pending'; readonly gatewayOperationId: string; readonly amountMinor: number; readonly currency: string }
  | { readonly kind: 'failed'; readonly failureCode: string; readonly message: string }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'unreached'; readonly reason: string };
