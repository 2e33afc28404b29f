// Reading a notification of Stripe: verified by the `stripe` package over the bytes as they came, and only ever a reason
// to look up. It decides nothing and believes no figure in the body.
import Stripe from 'stripe';
import type { NotificationReader, NotificationSecret, NotificationSource } from '../notification.ts';
import { asBody, isText } from './mapping.ts';

/** How old a signature may be. */
const windowSeconds = 5 * 60;

/** Reference and key are null for events about nothing of ours: payments made elsewhere in the same account. */
export const readStripeNotification: NotificationReader = ({ rawBody, header, secret, nowMs }) => {
  const event = verified(rawBody, header('stripe-signature'), secret, nowMs);
  const { id, type, data } = asBody(event);
  if (!isText(id) || !isText(type)) return null;
  // PaymentIntents, the charges made by them and our refunds all carry what we wrote on them.
  const { reference, key } = asBody(asBody(asBody(data).object).metadata);
  return { id, type, reference: isText(reference) ? reference : null, key: isText(key) ? key : null };
};

/** @param secrets the signing secrets (`whsec_…`) of the accounts' endpoints */
export function stripeNotifications(secrets: (account: string | null) => Promise<readonly NotificationSecret[]>): NotificationSource {
  return { read: readStripeNotification, secrets };
}

function verified(rawBody: string, signature: string | undefined, secret: string, nowMs: number): unknown {
  const signedAt = Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(signature ?? '')?.[1] ?? Number.NaN);
  // The package refuses old signatures only; one from the future would stay good for as long as it is ahead.
  if (signature === undefined || secret === '' || !(signedAt * 1_000 - nowMs <= windowSeconds * 1_000)) return null;
  try {
    return Stripe.webhooks.constructEvent(rawBody, signature, secret, windowSeconds, undefined, nowMs);
  } catch {
    return null;
  }
}
