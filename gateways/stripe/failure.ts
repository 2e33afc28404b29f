// What a failed call to Stripe means: surely not done, unknown, or a refusal in Stripe's own words. Pure; it keeps
// nothing of Stripe's texts.
import Stripe from 'stripe';
import { TransportFailure } from './http-client.ts';
import type { Silence } from './http-client.ts';

type Body = Readonly<Record<string, unknown>>;

export type Failure =
  | (Silence & { readonly alert?: string })
  /** The card was refused; `paymentIntent` as it stands after that. */
  | { readonly kind: 'card'; readonly code: unknown; readonly decline: Body; readonly paymentIntent: unknown }
  /** The request itself was refused, nothing was done. */
  | { readonly kind: 'invalid'; readonly code: string; readonly param: string; readonly paymentIntent: unknown }
  /** The idempotency key belongs to a request with other parameters. */
  | { readonly kind: 'key_reused' };

/** @param error whatever the package threw */
export function toFailure(error: unknown): Failure {
  if (!(error instanceof Stripe.errors.StripeError)) return { kind: 'unknown', reason: 'malformed_answer' };
  const detail: unknown = error.detail;
  if (detail instanceof TransportFailure) return detail.silence;
  const status = error.statusCode ?? 0;
  if (status >= 500) return { kind: 'unknown', reason: 'server_error' };
  // The same key is being worked on at this moment.
  if (status === 409) return { kind: 'unknown', reason: 'server_error' };
  if (error instanceof Stripe.errors.StripeRateLimitError) return { kind: 'unreached', reason: 'refused' };
  if (error instanceof Stripe.errors.StripeAuthenticationError) return { kind: 'unreached', reason: 'refused', alert: 'stripe_credentials_refused' };
  if (error instanceof Stripe.errors.StripePermissionError) return { kind: 'unreached', reason: 'refused', alert: 'stripe_permission_missing' };
  if (error instanceof Stripe.errors.StripeIdempotencyError) return { kind: 'key_reused' };
  const paymentIntent: unknown = error.payment_intent;
  if (status === 402 || error.rawType === 'card_error') {
    const { code, decline_code, advice_code } = error;
    return { kind: 'card', code, decline: { code, decline_code, advice_code }, paymentIntent };
  }
  if (status === 400 || status === 404) return { kind: 'invalid', code: error.code ?? '', param: error.param ?? '', paymentIntent };
  return { kind: 'unknown', reason: 'malformed_answer' };
}

/** Only what says nothing but "not done" or "not known"; anything else was not expected from this call. */
export function toSilence(failure: Failure): Silence {
  switch (failure.kind) {
    case 'unknown':
      return { kind: 'unknown', reason: failure.reason };
    case 'unreached':
      return { kind: 'unreached', reason: failure.reason };
    case 'card':
    case 'invalid':
    case 'key_reused':
      return { kind: 'unknown', reason: 'malformed_answer' };
  }
}
