// The adapter of Stripe: PaymentIntents under our references and idempotency keys. One method, one attempt; answers are
// mapped in mapping.ts, failures in failure.ts. It keeps no state but its connections. Why it looks up, cancels and saves
// cards the way it does is told in README.md.
import type Stripe from 'stripe';
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import type { Pan } from '../../domain/card.ts';
import type { ChargeOutcome, LookupOutcome } from '../../domain/gateway-outcome.ts';
import { CardRejected, VaultUnavailable } from '../gateway.ts';
import type { ChargeRequest, Gateway, GatewayCall, GatewayCapabilities, LookupRequest, OperationOutcome, OperationRequest, VaultedCard } from '../gateway.ts';
import { NoCredentials, withStripe } from './client.ts';
import type { StripeCredentials } from './client.ts';
import { stripeCurrencies, toStripeAmount } from './currency.ts';
import { refusedField } from './decline.ts';
import { toFailure, toSilence } from './failure.ts';
import type { Failure } from './failure.ts';
import { findApprovedIntent, findIntent, findRefund } from './lookup.ts';
import { asBody, declined, fencePurpose, isText, operationFailed, readCardReference, toChargeState, toRefundOutcome, toReleaseOrCapture, toVaultedCard } from './mapping.ts';
import type { Body, CardReference } from './mapping.ts';

export const stripeCapabilities: GatewayCapabilities = {
  currencies: stripeCurrencies,
  manualCapture: true,
  partialCapture: true,
  refunds: true,
  threeDS: true,
  savedCards: true,
  notifications: true,
  // Banks behind Stripe have been known to take twenty seconds.
  chargeTimeoutMs: 25_000,
  lookupTimeoutMs: 10_000,
  // As long as Stripe keeps an idempotency key, and far longer than its search index ever lagged. Cancelling is final at once.
  notFoundFinalAfterMs: 24 * 60 * 60_000,
};

const stripeUrl = 'https://api.stripe.com';
/** Well under the charge timeout, so that an address that swallows packets counts as not reached. */
const connectTimeoutMs = 5_000;
const connectionLimit = 64;

export interface StripeGatewayOptions {
  readonly credentialsOf: (call: GatewayCall) => Promise<StripeCredentials>;
  /** What an operator has to see: `stripe_…` and a few facts, never a secret. */
  readonly alert: (name: string, facts: Readonly<Record<string, string>>) => void;
  /** Scheme, host and port of a stand-in. Absent: Stripe. */
  readonly baseUrl?: string;
  /** Absent: a pool of its own, closed by `close`. */
  readonly dispatcher?: Dispatcher;
  /** For tests that wait for one. */
  readonly chargeTimeoutMs?: number;
}

export interface StripeGateway extends Gateway {
  close(): Promise<void>;
}

export function createStripeGateway(options: StripeGatewayOptions): StripeGateway {
  const origin = new URL(options.baseUrl ?? stripeUrl);
  const dispatcher = options.dispatcher ?? new Pool(origin.origin, { connections: connectionLimit, connect: { timeout: connectTimeoutMs } });
  const connection = { dispatcher, origin, credentialsOf: options.credentialsOf };
  const capabilities = { ...stripeCapabilities, chargeTimeoutMs: options.chargeTimeoutMs ?? stripeCapabilities.chargeTimeoutMs };
  const { chargeTimeoutMs, lookupTimeoutMs } = capabilities;

  /** Runs `work`; what it throws goes to `otherwise` as a failure, never further. */
  const attempt = async <T>(call: GatewayCall, timeoutMs: number, work: (stripe: Stripe) => Promise<T>, otherwise: (failure: Failure) => T | Promise<T>): Promise<T> => {
    let failure: Failure;
    try {
      return await withStripe(connection, call, timeoutMs, work);
    } catch (error) {
      failure = error instanceof NoCredentials ? { kind: 'unreached', reason: 'refused', alert: 'stripe_credentials_missing' } : toFailure(error);
    }
    if ('alert' in failure && failure.alert !== undefined) options.alert(failure.alert, { merchant: call.merchantId, mode: call.mode });
    return otherwise(failure);
  };

  const find = async (stripe: Stripe, request: LookupRequest): Promise<Body | null> => {
    const { intent, isDoubled } = await findIntent(stripe, request, request.gatewayTransactionId);
    if (isDoubled) options.alert('stripe_charged_twice', { reference: request.reference, key: request.key });
    return intent;
  };
  const stateOf = (intent: Body, request: LookupRequest) => toChargeState(intent, { reference: request.reference, key: request.key });

  const lookUp = (request: LookupRequest, call: GatewayCall): Promise<LookupOutcome> =>
    attempt<LookupOutcome>(
      call,
      lookupTimeoutMs,
      async (stripe) => {
        const intent = await find(stripe, request);
        return intent === null ? { kind: 'not_found' } : stateOf(intent, request);
      },
      toSilence,
    );

  /** What a charge that Stripe refused says. */
  const refusedCharge = async (failure: Failure, request: ChargeRequest, call: GatewayCall): Promise<ChargeOutcome> => {
    switch (failure.kind) {
      case 'card': {
        const { id, metadata } = asBody(failure.paymentIntent);
        if (!isText(id)) return declined(failure.decline, null);
        return asBody(metadata).reference === request.reference ? declined(failure.decline, id) : { kind: 'unknown', reason: 'mismatch' };
      }
      case 'invalid':
        // Below Stripe's minimum, above its maximum, or a currency this account cannot take: no later attempt fares better.
        if (['amount', 'currency'].includes(failure.param) || /^(amount_too_|invalid_charge_amount)/.test(failure.code)) return declined({ code: 'currency_not_supported' }, null);
        // Removed at Stripe, by hand or with its customer.
        if (failure.code === 'resource_missing' && ['payment_method', 'customer'].includes(failure.param)) return declined({ code: 'card_not_supported' }, null);
        options.alert('stripe_request_refused', { merchant: call.merchantId, mode: call.mode, reference: request.reference, code: failure.code, param: failure.param });
        return { kind: 'unreached', reason: 'refused' };
      case 'key_reused': {
        // Made with other figures, which is unknown, or cancelled before it came, which is surely not charged.
        const { kind } = await lookUp(request, call);
        return kind === 'cancelled' ? { kind: 'unreached', reason: 'refused' } : { kind: 'unknown', reason: 'mismatch' };
      }
      default:
        return toSilence(failure);
    }
  };

  return {
    slug: 'stripe',
    name: 'Stripe',
    capabilities,

    vaultCard: (card, call) =>
      attempt<VaultedCard>(call, chargeTimeoutMs, async (stripe) => keepCard(stripe, card), (failure) => {
        throw vaultError(failure, () => options.alert('stripe_card_data_refused', { merchant: call.merchantId, mode: call.mode }));
      }),

    async charge(request, call) {
      const card = readCardReference(request.cardReference);
      const amount = toStripeAmount(request.amountMinor, request.currency);
      if (amount === null) return declined({ code: 'currency_not_supported' }, null);
      if (card === null) {
        options.alert('stripe_card_reference_unreadable', { reference: request.reference });
        return { kind: 'unreached', reason: 'refused' };
      }
      if (!card.isAttached && request.initiatedBy === 'merchant') {
        const notAttached = await attempt<ChargeOutcome | null>(call, lookupTimeoutMs, async (stripe) => attach(stripe, card), attachFailure);
        if (notAttached !== null) return notAttached;
      }
      return attempt<ChargeOutcome>(
        call,
        chargeTimeoutMs,
        async (stripe) => {
          const intent = await stripe.paymentIntents.create(chargeParameters(request, card, amount), { idempotencyKey: request.key });
          const state = toChargeState(intent, { reference: request.reference, key: request.key });
          return state.kind === 'cancelled' ? { kind: 'unreached', reason: 'refused' } : state;
        },
        (failure) => refusedCharge(failure, request, call),
      );
    },

    lookupCharge: lookUp,

    cancelCharge: (request, call) =>
      attempt<LookupOutcome>(
        call,
        lookupTimeoutMs,
        async (stripe) => {
          const intent = (await find(stripe, request)) ?? (await fence(stripe, request)) ?? (await find(stripe, request));
          // The key is taken and nothing is to be seen under it yet.
          if (intent === null) return { kind: 'unknown', reason: 'server_error' };
          const state = stateOf(intent, request);
          if (state.kind !== 'requires_action' && !(state.kind === 'cancelled' && intent.status !== 'canceled')) return state;
          return stateOf(await cancelIntent(stripe, String(intent.id)), request);
        },
        toSilence,
      ),

    voidCharge: (request, call) =>
      attempt<OperationOutcome>(
        call,
        chargeTimeoutMs,
        async (stripe) => settled(toReleaseOrCapture('void', await stripe.paymentIntents.cancel(request.gatewayTransactionId, {}, { idempotencyKey: request.key }), request)),
        (failure) => refusedOperation('void', failure, request),
      ),

    async captureCharge(request, call) {
      const amount = toStripeAmount(request.amountMinor, request.currency);
      if (amount === null) return operationFailed('amount_not_representable');
      return attempt<OperationOutcome>(
        call,
        chargeTimeoutMs,
        async (stripe) => {
          // The key in the metadata tells a later look-up whose capture it was.
          const parameters = { amount_to_capture: amount, metadata: { capture_key: request.key } };
          return settled(toReleaseOrCapture('capture', await stripe.paymentIntents.capture(request.gatewayTransactionId, parameters, { idempotencyKey: request.key }), request));
        },
        (failure) => refusedOperation('capture', failure, request),
      );
    },

    async refundCharge(request, call) {
      const amount = toStripeAmount(request.amountMinor, request.currency);
      if (amount === null) return operationFailed('amount_not_representable');
      const metadata = { reference: request.reference, key: request.key };
      return attempt<OperationOutcome>(
        call,
        chargeTimeoutMs,
        async (stripe) => toRefundOutcome(await stripe.refunds.create({ payment_intent: request.gatewayTransactionId, amount, metadata }, { idempotencyKey: request.key }), request),
        (failure) => refusedOperation('refund', failure, request),
      );
    },

    lookupOperation: (request, call) =>
      attempt<OperationOutcome | { kind: 'not_found' }>(
        call,
        lookupTimeoutMs,
        async (stripe) => {
          const verb = /:(capture|void|refund):[^:]*$/.exec(request.key)?.[1];
          const known = request.gatewayTransactionId;
          const intent = isText(known) ? asBody(await stripe.paymentIntents.retrieve(known)) : await findApprovedIntent(stripe, request.reference);
          if (intent === null || verb === undefined) return { kind: 'not_found' };
          if (verb !== 'refund') return toReleaseOrCapture(verb === 'void' ? 'void' : 'capture', intent, request);
          const refund = await findRefund(stripe, String(intent.id), request.key);
          return refund === null ? { kind: 'not_found' } : toRefundOutcome(refund, request);
        },
        toSilence,
      ),

    async close() {
      if (options.dispatcher === undefined) await dispatcher.close();
    },
  };
}

/** The PaymentMethod, and a Customer to attach it to when it is to be used again. */
async function keepCard(stripe: Stripe, card: Pan): Promise<VaultedCard> {
  const { number, cvc } = card.reveal();
  const method = await stripe.paymentMethods.create({
    type: 'card',
    card: { number, cvc, exp_month: card.expiryMonth, exp_year: card.expiryYear },
    ...(card.holderName === null ? {} : { billing_details: { name: card.holderName } }),
  });
  const kept = toVaultedCard(method, await stripe.customers.create({ description: 'Holds one card of the checkout service' }));
  if (kept === null) throw new VaultUnavailable('the gateway did not keep the card: malformed_answer');
  return kept;
}

/** Our own words: what a gateway writes about a card it refuses could repeat it. */
function vaultError(failure: Failure, alert: () => void): Error {
  if (failure.kind === 'card' || failure.kind === 'invalid') {
    const field = refusedField(failure.code);
    if (field === 'number') return new CardRejected('number', 'The card number is not valid.');
    if (field === 'expiry') return new CardRejected('expiry', 'The card has expired or its expiry date is not valid.');
    if (field === 'cvc') return new CardRejected('cvc', 'The security code is not valid.');
    // Most likely the account may not send raw card data: see README.md.
    alert();
    return new VaultUnavailable('the gateway did not keep the card: refused');
  }
  if (failure.kind === 'key_reused') return new VaultUnavailable('the gateway did not keep the card: key_reused');
  const { reason } = failure;
  return new VaultUnavailable(`the gateway did not keep the card: ${reason}`, reason === 'timeout' || reason === 'connection_refused');
}

function chargeParameters(request: ChargeRequest, card: CardReference, amount: number): Stripe.PaymentIntentCreateParams {
  const { reference, key, returnUrl } = request;
  return {
    amount,
    currency: request.currency.toLowerCase(),
    customer: card.customer,
    payment_method: card.paymentMethod,
    allowed_payment_method_types: ['card'],
    capture_method: request.capture ? 'automatic' : 'manual',
    confirm: true,
    metadata: { reference, key },
    // What look-ups list charges by.
    transfer_group: reference,
    ...(request.initiatedBy === 'merchant' ? { off_session: true } : onSession(card, returnUrl)),
  };
}

function onSession(card: CardReference, returnUrl: string | null): Partial<Stripe.PaymentIntentCreateParams> {
  return {
    ...(card.isAttached ? {} : { setup_future_usage: 'off_session' as const }),
    // Nowhere to come back to: a challenge could not be finished, so it is a decline.
    ...(returnUrl === null ? { error_on_requires_action: true } : { return_url: returnUrl }),
  };
}

/** Before a merchant charges a card that was only tokenised: else the PaymentMethod would be spent by its first charge. */
async function attach(stripe: Stripe, card: CardReference): Promise<null> {
  await stripe.paymentMethods.attach(card.paymentMethod, { customer: card.customer });
  return null;
}

/** No money moves when attaching, so whatever happened, nothing was charged. */
function attachFailure(failure: Failure): ChargeOutcome | null {
  if (failure.kind === 'card') return declined(failure.decline, null);
  // Attached already, or never will be: the charge itself tells.
  if (failure.kind === 'invalid') return null;
  return { kind: 'unreached', reason: failure.kind === 'unreached' ? failure.reason : 'refused' };
}

/**
 * Occupies the key of a charge that was never seen: a PaymentIntent nobody can confirm, under that key, so that the charge
 * is refused should it still arrive. null when the key is taken, that is, when the charge has arrived after all.
 */
async function fence(stripe: Stripe, { reference, key }: LookupRequest): Promise<Body | null> {
  try {
    const parameters = { amount: 100, currency: 'usd', allowed_payment_method_types: ['card'], metadata: { reference, key, purpose: fencePurpose } };
    return asBody(await stripe.paymentIntents.create(parameters, { idempotencyKey: key }));
  } catch (error) {
    const { kind } = toFailure(error);
    // A charge that was declined replays its card error only to its own parameters, so this is not the fence's.
    if (kind === 'key_reused') return null;
    throw error;
  }
}

/** Without a key of its own: a replayed refusal would hide what has become of it since. */
async function cancelIntent(stripe: Stripe, id: string): Promise<Body> {
  try {
    return asBody(await stripe.paymentIntents.cancel(id, { cancellation_reason: 'abandoned' }));
  } catch (error) {
    // It has moved on meanwhile: its state is the answer.
    if (toFailure(error).kind === 'invalid') return asBody(await stripe.paymentIntents.retrieve(id));
    throw error;
  }
}

/** An operation Stripe said it has done and that is not to be seen is not understood. */
function settled(outcome: OperationOutcome | { kind: 'not_found' }): OperationOutcome {
  return outcome.kind === 'not_found' ? { kind: 'unknown', reason: 'malformed_answer' } : outcome;
}

function refusedOperation(verb: 'capture' | 'void' | 'refund', failure: Failure, request: OperationRequest): OperationOutcome {
  switch (failure.kind) {
    case 'card':
      return operationFailed(isText(failure.code) ? failure.code : 'refused');
    case 'invalid': {
      // Stripe shows what it found instead: perhaps this very operation, done by a request whose answer was lost.
      const { id } = asBody(failure.paymentIntent);
      if (verb === 'refund' || !isText(id)) return operationFailed(failure.code);
      const outcome = toReleaseOrCapture(verb, failure.paymentIntent, request);
      return outcome.kind === 'not_found' ? operationFailed(failure.code) : outcome;
    }
    case 'key_reused':
      return { kind: 'unknown', reason: 'mismatch' };
    default:
      return toSilence(failure);
  }
}
