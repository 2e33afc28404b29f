// Turns what the gateway said of an attempt into the new state of attempt, payment and session, with their events, customer
// and token, in one compare-and-set. Whoever comes second reads what the first one wrote.
import { authenticationGraceMs } from '../domain/checkout-session.ts';
import { isRetryable, type ApprovedOutcome, type ChargeOutcome, type LookupOutcome } from '../domain/gateway-outcome.ts';
import { lookupWaitMs, unreachableLookupWaitMs } from '../domain/reconcile-schedule.ts';
import { type AttemptStatus, authorizationLapseMs, openAttemptStatuses } from '../domain/transaction.ts';
import type { SessionRow } from '../models/checkout-session.ts';
import type { LeasedDelivery, NewEvent } from '../models/outbox.ts';
import { type AttemptContext, clockNow, readAttemptContext } from '../models/payment-attempt.ts';
import { type Settlement, writeSettlement } from '../models/session-moves.ts';
import { unseal, seal } from '../platform/seal.ts';
import type { PaymentFailure } from '../presenters/payment-payload.ts';
import type { AttemptResult } from '../temporal/contract.ts';
import type { OperationDeps } from './deps.ts';
import { paymentEvent, paymentOfSession, sessionEvent } from './payment-events.ts';

/** What settling needs to know beyond the outcome itself. */
export interface SettleFacts {
  /** Look-ups answered so far, this one included. */
  readonly lookups: number;
  /** The gateway declared "not found" final by now. */
  readonly notFoundIsFinal: boolean;
  /** An earlier run may have sent the charge: reaching nobody now proves nothing. */
  readonly mayHaveBeenSent: boolean;
}

/** Races with a parallel settle or a token made meanwhile are read again; more than this is a fault. */
const maxRaces = 5;

/**
 * @param context as the claim or a read gave it; it is read again when it turns out to be stale
 * @returns how the attempt stands, also when somebody else settled it first
 */
export async function settleAttempt(deps: OperationDeps, context: AttemptContext, outcome: LookupOutcome, facts: SettleFacts): Promise<AttemptResult> {
  let current = context;
  for (let race = 0; race < maxRaces; race++) {
    if (!isOpen(current.attempt.status)) return resultOf(current);
    const settlement = buildSettlement(deps, atPresent(current), outcome, wasSentSince(context, current) ? { ...facts, mayHaveBeenSent: true, notFoundIsFinal: false } : facts);
    const leased = await writeOrRace(deps, settlement);
    if (leased !== null) {
      deps.offerDeliveries(leased);
      return resultAfter(current, settlement);
    }
    current = await readAttemptContext(deps.db, context.attempt.id);
  }
  throw new Error(`attempt ${context.attempt.id} could not be settled: its rows kept moving`);
}

/** Another run has sent the charge since this one began: what this one heard says nothing of that. */
function wasSentSince(begun: AttemptContext, current: AttemptContext): boolean {
  return begun.attempt.sentAt?.getTime() !== current.attempt.sentAt?.getTime();
}

/** The context as of now: what is settled carries the time of settling, not of the claim. */
function atPresent(context: AttemptContext): AttemptContext {
  return { ...context, session: { ...context.session, readAt: clockNow(context) }, readMonotonicMs: performance.now() };
}

/** A unique violation means that the customer or token was made by somebody else meanwhile: read again, like a lost race. */
async function writeOrRace(deps: OperationDeps, settlement: Settlement): Promise<LeasedDelivery[] | null> {
  try {
    return await writeSettlement(deps.db, settlement);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '23505') return null;
    throw error;
  }
}

function isOpen(status: AttemptStatus): boolean {
  return (openAttemptStatuses as readonly string[]).includes(status);
}

/** How an attempt stands by its row. */
export function resultOf(context: AttemptContext): AttemptResult {
  const cutOffAtMs = context.session.expiresAt.getTime() + authenticationGraceMs;
  switch (context.attempt.status) {
    case 'approved':
    case 'declined':
    case 'unreached':
    case 'refused':
    case 'cancelled':
      return { state: context.attempt.status };
    case 'requires_action':
      return { state: 'requires_action', cutOffAtMs };
    case 'requested':
    case 'claimed':
    case 'unknown':
      return { state: 'unknown', nextLookupAtMs: context.session.readAt.getTime() + lookupWaitMs(context.attempt.lookups) };
  }
}

function resultAfter(context: AttemptContext, settlement: Settlement): AttemptResult {
  if (settlement.attempt.status === 'unknown' && settlement.session.dueAt !== null) {
    return { state: 'unknown', nextLookupAtMs: settlement.session.dueAt.getTime() };
  }
  return resultOf({ ...context, attempt: { ...context.attempt, status: settlement.attempt.status } });
}

/** One outcome, one settlement. A pure function of the rows read and the outcome, ids aside. */
function buildSettlement(deps: OperationDeps, context: AttemptContext, outcome: LookupOutcome, facts: SettleFacts): Settlement {
  switch (outcome.kind) {
    case 'captured':
    case 'authorized':
      return isAsAsked(context, outcome) ? approve(deps, context, outcome) : stayUnknown(context, { kind: 'unknown', reason: 'mismatch' }, facts);
    case 'declined':
      return decline(deps, context, outcome, {
        code: 'card_declined',
        decline_code: outcome.declineCode,
        message: outcome.message,
        retryable: isRetryable(outcome.declineCode),
      });
    case 'requires_action':
      return {
        ...unchanged(context),
        attempt: { status: 'requires_action', outcome, actionUrl: outcome.actionUrl, settled: false, lookups: facts.lookups },
        session: { ...sessionPart(context), attemptInFlight: true, dueAt: new Date(context.session.expiresAt.getTime() + authenticationGraceMs) },
        payment: { ...paymentPart(context), status: 'requires_action', gatewayTransactionId: outcome.gatewayTransactionId, tried: true },
      };
    case 'unknown':
      return stayUnknown(context, outcome, facts);
    case 'unreached':
      // A look-up that reached nobody says nothing; a charge that reached nobody surely did not happen.
      return context.attempt.status === 'claimed' && !facts.mayHaveBeenSent ? release(context, outcome) : stayUnknown(context, null, facts, unreachableLookupWaitMs);
    case 'not_found':
      if (!facts.notFoundIsFinal) return stayUnknown(context, null, facts);
      return decline(deps, context, null, {
        code: 'not_charged',
        decline_code: null,
        message: 'The gateway never processed this payment; the card was not charged.',
        retryable: true,
      });
    case 'cancelled':
      return abandon(deps, context);
  }
}

function isAsAsked(context: AttemptContext, outcome: ApprovedOutcome): boolean {
  return outcome.amountMinor === context.session.amount && outcome.currency === context.session.currency;
}

function unchanged(context: AttemptContext): Pick<Settlement, 'attemptId' | 'expected' | 'newCustomer' | 'newToken' | 'events'> {
  return {
    attemptId: context.attempt.id,
    expected: { attemptStatuses: [context.attempt.status], sessionSequence: context.session.eventSequence, paymentSequence: context.paymentEventSequence, sentAt: null },
    newCustomer: null,
    newToken: null,
    events: [],
  };
}

/** As `unchanged`, but only as long as nobody sends the charge again: for "surely not charged". */
function unlessSentAgain(context: AttemptContext): ReturnType<typeof unchanged> {
  const base = unchanged(context);
  return { ...base, expected: { ...base.expected, sentAt: context.attempt.sentAt } };
}

function sessionPart(context: AttemptContext): Settlement['session'] {
  return { status: 'open', attemptInFlight: false, dueAt: context.session.expiresAt, completedAt: null, sequence: context.session.eventSequence, customerId: context.session.customerId };
}

function paymentPart(context: AttemptContext): Settlement['payment'] {
  const { brand, last4, expiryMonth, expiryYear } = context.attempt.card;
  return {
    status: context.transactionStatus,
    amountCapturedMinor: 0,
    gatewayTransactionId: context.session.transaction.gatewayTransactionId,
    failure: null,
    sequence: context.paymentEventSequence,
    tried: context.session.transaction.triedAt !== null,
    authorizedAt: null,
    capturedAt: null,
    lapsesAt: null,
    tokenId: null,
    customer: describePayer(context),
    card: { brand, last4, expiryMonth, expiryYear },
  };
}

/** Known customer first, then what the merchant wrote, then what the payer typed. */
function describePayer(context: AttemptContext): { id: string | null; name: string | null; email: string | null; phone: string | null } {
  const { knownCustomer, session, attempt } = context;
  return {
    id: knownCustomer?.id ?? null,
    name: session.customer?.name ?? knownCustomer?.name ?? attempt.payer.name,
    email: session.customer?.email ?? knownCustomer?.email ?? attempt.payer.email,
    phone: session.customer?.phone ?? knownCustomer?.phone ?? null,
  };
}

function approve(deps: OperationDeps, context: AttemptContext, outcome: ApprovedOutcome): Settlement {
  const { session, attempt } = context;
  const now = session.readAt;
  const captured = outcome.kind === 'captured';
  const payer = describePayer(context);
  // Without a customer given one is made, so that the saved card has an owner; with nothing to save and nobody named, none.
  const makesCustomer = payer.id === null && (session.savePaymentMethod || session.customer !== null);
  const customer = { ...payer, id: makesCustomer ? deps.newId('customer') : payer.id };
  const token = chooseToken(deps, context, outcome, customer.id);
  const status = outcome.kind;
  const transaction = {
    ...session.transaction,
    status,
    cardBrand: attempt.card.brand,
    cardLast4: attempt.card.last4,
    gatewayTransactionId: outcome.gatewayTransactionId,
    tokenId: token.id,
    triedAt: now,
  };
  const completed: SessionRow = { ...session, status: 'completed', completedAt: now, customerId: customer.id };
  const payment = paymentOfSession(deps, completed, session.transaction.receiptNumber, {
    status,
    capturedAt: captured ? now : null,
    tokenId: token.id,
    cardBrand: attempt.card.brand,
    cardLast4: attempt.card.last4,
    customer,
  });
  const events: NewEvent[] = [
    paymentEvent(deps, captured ? 'payment.completed' : 'payment.authorized', payment, context.paymentEventSequence + 1, now),
    sessionEvent(deps, 'checkout_session.completed', completed, transaction, session.eventSequence + 1, now),
  ];
  return {
    ...unchanged(context),
    attempt: { status: 'approved', outcome: { ...outcome, reusableReference: null }, actionUrl: null, settled: true, lookups: attempt.lookups },
    session: { status: 'completed', attemptInFlight: false, dueAt: null, completedAt: now, sequence: session.eventSequence + 1, customerId: customer.id },
    payment: {
      ...paymentPart(context),
      status,
      amountCapturedMinor: captured ? outcome.amountMinor : 0,
      gatewayTransactionId: outcome.gatewayTransactionId,
      sequence: context.paymentEventSequence + 1,
      tried: true,
      authorizedAt: now,
      capturedAt: captured ? now : null,
      lapsesAt: captured ? null : new Date(now.getTime() + authorizationLapseMs),
      tokenId: token.id,
      customer,
    },
    newCustomer: makesCustomer && customer.id !== null ? { ...customer, id: customer.id, externalCustomerId: session.customer?.externalCustomerId ?? null } : null,
    newToken: token.fresh,
    events,
  };
}

/** The saved card that was charged, the one the customer already has for this card, or a new one; none when not wanted. */
function chooseToken(deps: OperationDeps, context: AttemptContext, outcome: ApprovedOutcome, customerId: string | null): { id: string | null; fresh: Settlement['newToken'] } {
  const { attempt, session } = context;
  if (attempt.tokenId !== null) return { id: attempt.tokenId, fresh: null };
  if (!session.savePaymentMethod || customerId === null) return { id: null, fresh: null };
  if (context.knownTokenId !== null) return { id: context.knownTokenId, fresh: null };
  const id = deps.newId('token');
  const reference = outcome.reusableReference ?? unseal(deps.keyRing, 'gateway-token', attempt.id, attempt.sealedCardReference);
  const sealedReference = seal(deps.keyRing, 'gateway-token', id, reference);
  return { id, fresh: { id, customerId, gateway: attempt.gateway, fingerprint: attempt.card.fingerprint, sealedReference } };
}

function decline(deps: OperationDeps, context: AttemptContext, outcome: ChargeOutcome | null, failure: PaymentFailure): Settlement {
  const { session, attempt } = context;
  const now = session.readAt;
  const payment = paymentOfSession(deps, session, session.transaction.receiptNumber, {
    status: 'failed',
    capturedAt: null,
    tokenId: null,
    cardBrand: attempt.card.brand,
    cardLast4: attempt.card.last4,
    customer: describePayer(context),
  });
  return {
    // A decline is the gateway's word; without one, this is what not finding anything comes to.
    ...(outcome === null ? unlessSentAgain(context) : unchanged(context)),
    attempt: { status: 'declined', outcome, actionUrl: null, settled: true, lookups: attempt.lookups },
    session: { ...sessionPart(context), status: 'failed', dueAt: null },
    payment: {
      ...paymentPart(context),
      status: 'failed',
      gatewayTransactionId: outcome?.kind === 'declined' ? outcome.gatewayTransactionId : null,
      failure,
      sequence: context.paymentEventSequence + 1,
      tried: true,
    },
    events: [paymentEvent(deps, 'payment.failed', payment, context.paymentEventSequence + 1, now, failure)],
  };
}

function stayUnknown(context: AttemptContext, outcome: ChargeOutcome | null, facts: SettleFacts, waitMs = lookupWaitMs(facts.lookups)): Settlement {
  return {
    ...unchanged(context),
    attempt: { status: 'unknown', outcome: outcome ?? context.attempt.outcome, actionUrl: null, settled: false, lookups: facts.lookups },
    session: { ...sessionPart(context), attemptInFlight: true, dueAt: new Date(context.session.readAt.getTime() + waitMs) },
    payment: { ...paymentPart(context), status: 'processing', tried: true },
  };
}

/** Surely not charged: the attempt is over, the session is as it was before it, and nobody is told. */
function release(context: AttemptContext, outcome: ChargeOutcome): Settlement {
  const { session } = context;
  return {
    ...unlessSentAgain(context),
    attempt: { status: 'unreached', outcome, actionUrl: null, settled: true, lookups: 0 },
    session: sessionPart(context),
    // A payment that already needs the customer still does.
    payment: { ...paymentPart(context), status: session.tokenOnly === null ? 'pending' : 'requires_action' },
  };
}

/** The authentication was given up at the gateway: no money moved, the session's time is over. */
function abandon(deps: OperationDeps, context: AttemptContext): Settlement {
  const { session } = context;
  const sequence = session.eventSequence + 1;
  const expired: SessionRow = { ...session, status: 'expired' };
  const transaction = { ...session.transaction, status: 'expired' as const, cardBrand: context.attempt.card.brand, cardLast4: context.attempt.card.last4 };
  return {
    ...unchanged(context),
    attempt: { status: 'cancelled', outcome: null, actionUrl: null, settled: true, lookups: context.attempt.lookups },
    session: { ...sessionPart(context), status: 'expired', dueAt: null, sequence },
    payment: { ...paymentPart(context), status: 'expired', tried: true },
    events: [sessionEvent(deps, 'checkout_session.expired', expired, transaction, sequence, session.readAt)],
  };
}
