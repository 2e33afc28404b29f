// Creates a checkout session with its reserved payment, `payment.created` and the stored answer, in one statement.
// Specification: POST /checkout-sessions.
import { randomBytes } from 'node:crypto';
import type { FieldError } from '../domain/errors.ts';
import { makeReceiptNumber } from '../domain/receipt-number.ts';
import { hostOf } from '../domain/redirect-url.ts';
import type { LineItem, SessionCustomer, SessionRow } from '../models/checkout-session.ts';
import { insertSession, readSessionPreconditions, type SessionPreconditions } from '../models/session-create.ts';
import type { StartableSession } from '../models/session-moves.ts';
import { presentCreatedSession, presentReservedPayment } from '../presenters/checkout-session.ts';
import { checkoutUrl } from './checkout-url.ts';
import type { Answer, OperationDeps, RequestScope } from './deps.ts';
import { type IdempotencyClaim, IdempotencyRace, storedClaim } from './idempotency.ts';
import { paymentEvent, paymentOfSession } from './payment-events.ts';
import { type Redirect, redirectsOf, refuseUnregistered, throwFound } from './redirect-hosts.ts';
import { usableGateway } from './usable-gateway.ts';

/** A validated request; amounts in minor units. */
export interface CreateSessionInput {
  readonly amountMinor: number;
  readonly currency: string;
  readonly successUrl: string;
  readonly failureUrl: string;
  readonly cancelUrl: string | null;
  readonly description: string | null;
  readonly customer: SessionCustomer | null;
  readonly customerId: string | null;
  readonly lineItems: readonly LineItem[];
  readonly subtotalMinor: number | null;
  readonly taxName: string | null;
  readonly taxRate: number | null;
  readonly taxAmountMinor: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly gateway: string | null;
  readonly expiresInMinutes: number;
  readonly source: string;
  readonly orderId: string | null;
  readonly savePaymentMethod: boolean;
  readonly locale: string | null;
  readonly recoveredFrom: string | null;
  /** false only authorises the payment. */
  readonly capture: boolean;
  /** What the caller asked for: the answer shows the session, or the payment reserved for it. */
  readonly asked: 'session' | 'payment';
}

export interface CreatedSession {
  readonly answer: Answer;
  /** For the workflow's start, which happens after the commit. */
  readonly session: StartableSession;
}

/**
 * @throws DomainError currency_not_supported, gateway_not_found, customer_not_found, redirect_host_not_registered, validation_failed
 * @throws IdempotencyRace when the claim's key was taken meanwhile; nothing was written
 */
export async function createSession(deps: OperationDeps, request: RequestScope, input: CreateSessionInput, claim: IdempotencyClaim | null): Promise<CreatedSession> {
  const known = await readSessionPreconditions(deps.db, request, {
    customerId: input.customerId,
    externalCustomerId: input.customer?.externalCustomerId ?? null,
    hosts: redirects(input).map(([, url]) => hostOf(url)),
  });
  const gateway = input.gateway ?? known.defaultGateway;
  check(deps, request, input, gateway, known);

  const session = buildSession(deps, request, input, gateway, known);
  const receiptNumber = makeReceiptNumber(request.now, randomBytes(5));
  const customer = {
    id: session.customerId,
    name: session.customer?.name ?? null,
    email: session.customer?.email ?? null,
    phone: session.customer?.phone ?? null,
  };
  const payment = paymentOfSession(deps, session, receiptNumber, { status: 'pending', capturedAt: null, tokenId: null, cardBrand: null, cardLast4: null, customer });
  const events = [paymentEvent(deps, 'payment.created', payment, 1, request.now)];
  const present = input.asked === 'payment' ? presentReservedPayment : presentCreatedSession;
  const answer = { status: 201, body: JSON.stringify(present(session, checkoutUrl(deps, session.id))) };

  const leased = await insertSession(deps.db, session, receiptNumber, storedClaim(claim, answer), events);
  if (leased === null) throw new IdempotencyRace('the key was taken by another request');
  deps.offerDeliveries(leased);
  return {
    answer,
    session: {
      id: session.id,
      merchantId: session.merchantId,
      merchantName: known.merchantName,
      mode: session.mode,
      amount: session.amount,
      currency: session.currency,
      expiresAt: session.expiresAt,
    },
  };
}

function redirects(input: CreateSessionInput): Redirect[] {
  return redirectsOf({ success_url: input.successUrl, failure_url: input.failureUrl, cancel_url: input.cancelUrl });
}

function check(deps: OperationDeps, request: RequestScope, input: CreateSessionInput, gatewaySlug: string, known: SessionPreconditions): void {
  const errors: FieldError[] = [];
  const add = (path: string, code: string, message: string): void => void errors.push({ path, code, message });
  const gateway = usableGateway(deps.gateways, gatewaySlug, request.mode, known.connectedGateways);
  if (gateway === null) {
    add('gateway', 'gateway_not_found', `There is no gateway "${gatewaySlug}" for this merchant in ${request.mode} mode.`);
  }
  if (!known.currencies.includes(input.currency)) {
    add('currency', 'currency_not_supported', `${input.currency} is not enabled for this merchant; enabled: ${known.currencies.join(', ')}.`);
  } else if (gateway !== null && gateway.currencies !== 'all' && !gateway.currencies.includes(input.currency)) {
    add('currency', 'currency_not_supported', `${input.currency} cannot be charged by the gateway ${gateway.slug}.`);
  }
  if (input.customerId !== null && known.customer?.id !== input.customerId) {
    add('customer_id', 'customer_not_found', 'There is no such customer.');
  }
  errors.push(...refuseUnregistered(request.mode, redirects(input), known.registeredHosts));
  throwFound(errors);
}

function buildSession(deps: OperationDeps, request: RequestScope, input: CreateSessionInput, gateway: string, known: SessionPreconditions): SessionRow {
  return {
    id: deps.newId('session'),
    merchantId: request.merchantId,
    mode: request.mode,
    status: 'open',
    amount: input.amountMinor,
    currency: input.currency,
    description: input.description,
    successUrl: input.successUrl,
    failureUrl: input.failureUrl,
    cancelUrl: input.cancelUrl,
    lineItems: input.lineItems,
    subtotal: input.subtotalMinor,
    taxName: input.taxName,
    taxRate: input.taxRate,
    taxAmount: input.taxAmountMinor,
    metadata: input.metadata,
    gateway,
    source: input.source,
    orderId: input.orderId,
    locale: input.locale,
    customerId: known.customer?.id ?? null,
    customer: describeCustomer(input.customer, known.customer),
    savePaymentMethod: input.savePaymentMethod,
    capture: input.capture,
    originDomain: hostOf(input.successUrl),
    recoveredFrom: input.recoveredFrom,
    transactionId: deps.newId('transaction'),
    tokenOnly: null,
    attemptInFlight: false,
    eventSequence: 0,
    expiresAt: new Date(request.now.getTime() + input.expiresInMinutes * 60_000),
    completedAt: null,
    workflowStartedAt: null,
    createdAt: request.now,
  };
}

/** What the merchant wrote wins over what is known of the customer. */
function describeCustomer(given: SessionCustomer | null, known: SessionPreconditions['customer']): SessionCustomer | null {
  if (known === null) return given;
  return {
    name: given?.name ?? known.name,
    email: given?.email ?? known.email,
    phone: given?.phone ?? known.phone,
    externalCustomerId: given?.externalCustomerId ?? null,
  };
}
