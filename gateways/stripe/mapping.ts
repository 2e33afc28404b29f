// Stripe's objects in our words: pure functions. An object that does not have the promised shape, or is about another
// payment of ours, is unknown, never a decline.
import type { LookupOutcome } from '../../domain/gateway-outcome.ts';
import type { OperationOutcome, VaultedCard } from '../gateway.ts';
import { fromStripeAmount } from './currency.ts';
import { declineMessages, toDeclineCode } from './decline.ts';

export type Body = Readonly<Record<string, unknown>>;

/** `metadata.purpose` of a PaymentIntent that exists only to occupy a cancelled charge's idempotency key. */
export const fencePurpose = 'cancelled_before_charge';

/** A card at Stripe: the PaymentMethod, the Customer made for it, and whether the one is attached to the other yet. */
export interface CardReference {
  readonly customer: string;
  readonly paymentMethod: string;
  /** An unattached PaymentMethod can be charged once; Stripe attaches it when a charge with `setup_future_usage` succeeds. */
  readonly isAttached: boolean;
}

export function writeCardReference(card: CardReference): string {
  return `${card.isAttached ? 'saved' : 'new'}:${card.customer}:${card.paymentMethod}`;
}

/** @returns null for a text that `writeCardReference` did not make */
export function readCardReference(text: string): CardReference | null {
  const match = /^(new|saved):(cus_\w+):((?:pm|card)_\w+)$/.exec(text);
  return match === null ? null : { isAttached: match[1] === 'saved', customer: match[2] ?? '', paymentMethod: match[3] ?? '' };
}

/** @returns null when the PaymentMethod is not a card as we expect it */
export function toVaultedCard(method: unknown, customer: unknown): VaultedCard | null {
  const paymentMethod = asBody(method);
  const { id, card } = paymentMethod;
  const { brand, last4, exp_month: expiryMonth, exp_year: expiryYear, fingerprint } = asBody(card);
  const { id: customerId } = asBody(customer);
  if (!isText(id) || !isText(customerId) || !isText(brand) || !isText(last4) || !isWhole(expiryMonth) || !isWhole(expiryYear) || !isText(fingerprint)) return null;
  const reference = writeCardReference({ customer: customerId, paymentMethod: id, isAttached: false });
  return readCardReference(reference) === null ? null : { reference, brand, last4, expiryMonth, expiryYear, fingerprint };
}

export interface Asked {
  readonly reference: string;
  /** Absent where any attempt of this payment will do. */
  readonly key?: string;
}

/** A PaymentIntent as the state of a charge. @param asked a PaymentIntent about anything else is no answer to this request */
export function toChargeState(paymentIntent: unknown, asked: Asked): Exclude<LookupOutcome, { kind: 'not_found' }> {
  const intent = asBody(paymentIntent);
  const metadata = asBody(intent.metadata);
  const { id } = intent;
  if (!isText(id)) return malformed;
  if (metadata.reference !== asked.reference || (asked.key !== undefined && metadata.key !== asked.key)) return mismatch;
  switch (intent.status) {
    case 'succeeded':
      return approved('captured', id, intent, intent.amount_received);
    case 'requires_capture':
      return approved('authorized', id, intent, intent.amount_capturable);
    case 'requires_action': {
      const actionUrl = asBody(asBody(intent.next_action).redirect_to_url).url;
      if (!isText(actionUrl) || !/^https?:\/\//.test(actionUrl) || !URL.canParse(actionUrl)) return malformed;
      return { kind: 'requires_action', actionUrl, gatewayTransactionId: id };
    }
    case 'requires_payment_method':
      if (typeof intent.last_payment_error === 'object' && intent.last_payment_error !== null) return declined(intent.last_payment_error, id);
      return metadata.purpose === fencePurpose ? { kind: 'cancelled', gatewayTransactionId: id } : malformed;
    case 'canceled':
      return { kind: 'cancelled', gatewayTransactionId: id };
    case 'processing':
      // The bank has not answered Stripe yet.
      return { kind: 'unknown', reason: 'timeout' };
    default:
      return malformed;
  }
}

/** @param error a card error, or the `last_payment_error` of a PaymentIntent */
export function declined(error: object, gatewayTransactionId: string | null): Extract<LookupOutcome, { kind: 'declined' }> {
  const declineCode = toDeclineCode(error);
  return { kind: 'declined', declineCode, message: declineMessages[declineCode], gatewayTransactionId };
}

/** A PaymentIntent after a capture or a void; both are states of it, so its id is theirs. */
export function toReleaseOrCapture(verb: 'capture' | 'void', paymentIntent: unknown, asked: Asked & { key: string }): OperationOutcome | { kind: 'not_found' } {
  const intent = asBody(paymentIntent);
  const metadata = asBody(intent.metadata);
  const { id, status } = intent;
  if (!isText(id)) return malformed;
  if (metadata.reference !== asked.reference) return mismatch;
  if (status === 'requires_capture') return { kind: 'not_found' };
  if (status === 'canceled') return verb === 'void' ? succeeded(id, intent.amount, intent.currency) : operationFailed('authorization_released');
  if (status !== 'succeeded') return operationFailed('not_authorized');
  const isThisCapture = verb === 'capture' && metadata.capture_key === asked.key;
  return isThisCapture ? succeeded(id, intent.amount_received, intent.currency) : operationFailed('already_captured');
}

export function toRefundOutcome(refund: unknown, asked: Asked & { key: string }): OperationOutcome {
  const { id, status, amount, currency, metadata, failure_reason: reason } = asBody(refund);
  const { reference, key } = asBody(metadata);
  if (!isText(id)) return malformed;
  if (reference !== asked.reference || key !== asked.key) return mismatch;
  switch (status) {
    case 'succeeded':
      return succeeded(id, amount, currency);
    case 'pending':
    // The customer has to say where to send it; rare on cards.
    case 'requires_action': {
      const money = fromStripeAmount(amount, currency);
      return money === null ? malformed : { kind: 'pending', gatewayOperationId: id, ...money };
    }
    case 'failed':
      return operationFailed(isText(reason) ? reason : 'refund_failed');
    case 'canceled':
      return operationFailed('refund_canceled');
    default:
      return malformed;
  }
}

/** @param code a word for the record, lower case with underscores */
export function operationFailed(code: string): Extract<OperationOutcome, { kind: 'failed' }> {
  return { kind: 'failed', failureCode: /^\w{1,64}$/.test(code) ? code : 'refused', message: 'The gateway refused the operation.' };
}

/** Of several PaymentIntents under one key, which can be after a day, the one that matters: where money is, or may get. */
export function weightiest(intents: readonly Body[]): Body | null {
  const order = ['succeeded', 'requires_capture', 'processing', 'requires_action', 'requires_payment_method', 'canceled'];
  const weight = (intent: Body): number => {
    const place = order.indexOf(String(intent.status));
    return place === -1 ? order.length : place;
  };
  return intents.toSorted((a, b) => weight(a) - weight(b))[0] ?? null;
}

export function hasMoney(intent: Body): boolean {
  return intent.status === 'succeeded' || intent.status === 'requires_capture';
}

export function asBody(value: unknown): Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : {};
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const malformed = { kind: 'unknown', reason: 'malformed_answer' } as const;
const mismatch = { kind: 'unknown', reason: 'mismatch' } as const;

function approved(kind: 'captured' | 'authorized', gatewayTransactionId: string, intent: Body, amount: unknown): Extract<LookupOutcome, { kind: 'captured' | 'authorized' | 'unknown' }> {
  const money = fromStripeAmount(amount, intent.currency);
  if (money === null) return malformed;
  const { customer, payment_method: paymentMethod } = intent;
  // Approved with a customer: by now Stripe has attached the one to the other.
  const reusableReference = isText(customer) && isText(paymentMethod) ? writeCardReference({ customer, paymentMethod, isAttached: true }) : null;
  return { kind, gatewayTransactionId, ...money, reusableReference };
}

function succeeded(gatewayOperationId: string, amount: unknown, currency: unknown): OperationOutcome {
  const money = fromStripeAmount(amount, currency);
  return money === null ? malformed : { kind: 'succeeded', gatewayOperationId, ...money };
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
