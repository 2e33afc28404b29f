// Finds what Stripe has under our reference. It only reads. Charges are listed by `transfer_group`, which every charge of
// ours carries; search, which lags behind, is asked only for what never became a charge, and what it finds is read anew.
import type Stripe from 'stripe';
import { asBody, hasMoney, isText, weightiest } from './mapping.ts';
import type { Body } from './mapping.ts';

/** More attempts of one payment than this do not happen; the list takes no more in one page. */
const chargesPerPayment = 100;

export interface Found {
  readonly intent: Body | null;
  /** Two charges under one key hold money: a person has to look. */
  readonly isDoubled: boolean;
}

/**
 * @param known the PaymentIntent's id where the caller has it: then nothing has to be searched
 * @throws what the package throws
 */
export async function findIntent(stripe: Stripe, asked: { reference: string; key: string }, known?: string | null): Promise<Found> {
  if (isText(known)) return { intent: asBody(await stripe.paymentIntents.retrieve(known)), isDoubled: false };
  const charged = await intentIdsOfCharges(stripe, asked.reference, (metadata) => metadata.key === asked.key);
  const ids = charged.length > 0 ? charged : await searchIntentIds(stripe, asked.key);
  const intents: Body[] = [];
  for (const id of ids) intents.push(asBody(await stripe.paymentIntents.retrieve(id)));
  return { intent: weightiest(intents), isDoubled: intents.filter(hasMoney).length > 1 };
}

/** The PaymentIntent of a payment that was approved, whichever attempt it was. @throws what the package throws */
export async function findApprovedIntent(stripe: Stripe, reference: string): Promise<Body | null> {
  const ids = await intentIdsOfCharges(stripe, reference, () => true);
  const intents: Body[] = [];
  for (const id of ids) intents.push(asBody(await stripe.paymentIntents.retrieve(id)));
  return weightiest(intents);
}

/** The refund made with this key, or null. @throws what the package throws */
export async function findRefund(stripe: Stripe, paymentIntent: string, key: string): Promise<Body | null> {
  let startingAfter: string | null = null;
  for (;;) {
    const page: Stripe.ApiList<Stripe.Refund> = await stripe.refunds.list({ payment_intent: paymentIntent, limit: 100, ...(startingAfter === null ? {} : { starting_after: startingAfter }) });
    const refund = page.data.find(({ metadata }) => asBody(metadata).key === key);
    if (refund !== undefined) return asBody(refund);
    const last = page.data.at(-1);
    if (!page.has_more || last === undefined) return null;
    startingAfter = last.id;
  }
}

async function intentIdsOfCharges(stripe: Stripe, reference: string, isAsked: (metadata: Body) => boolean): Promise<string[]> {
  const { data } = await stripe.charges.list({ transfer_group: reference, limit: chargesPerPayment });
  const ids = data.filter(({ metadata }) => asBody(metadata).reference === reference && isAsked(asBody(metadata))).map((charge) => idOf(charge.payment_intent));
  return [...new Set(ids.filter((id) => id !== null))];
}

async function searchIntentIds(stripe: Stripe, key: string): Promise<string[]> {
  const { data } = await stripe.paymentIntents.search({ query: `metadata["key"]:"${key.replace(/["\\]/g, String.raw`\$&`)}"`, limit: 10 });
  return data.filter(({ metadata }) => asBody(metadata).key === key).map(({ id }) => id);
}

function idOf(value: unknown): string | null {
  if (isText(value)) return value;
  const { id } = asBody(value);
  return isText(id) ? id : null;
}
