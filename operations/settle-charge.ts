// Turns what the gateway said of a direct charge into the payment's new state with its events, in one compare-and-set. A
// bank's demand for authentication becomes a page on which the customer can finish.
import { expiresInMinutes } from '../domain/checkout-session.ts';
import { type ApprovedOutcome, type ChargeOutcome, isRetryable, type LookupOutcome } from '../domain/gateway-outcome.ts';
import { lookupWaitMs, unreachableLookupWaitMs } from '../domain/reconcile-schedule.ts';
import { authorizationLapseMs } from '../domain/transaction.ts';
import { type ChargeContext, type ChargeSettlement, readDirectCharge, writeChargeSettlement } from '../models/direct-charge.ts';
import type { PaymentFailure } from '../presenters/payment-payload.ts';
import type { MoneyResult } from '../temporal/contract.ts';
import { checkoutUrl } from './checkout-url.ts';
import type { OperationDeps } from './deps.ts';
import { clockOf, factsUnlessSentSince, maxSettleRaces, type MoneyFacts, paymentFacts } from './money-facts.ts';
import { paymentEvent } from './payment-events.ts';

/** @returns how the attempt stands, also when somebody else settled it first */
export async function settleCharge(deps: OperationDeps, context: ChargeContext, outcome: LookupOutcome, facts: MoneyFacts): Promise<MoneyResult> {
  let current = context;
  for (let race = 0; race < maxSettleRaces; race++) {
    if (!['requested', 'claimed', 'unknown'].includes(current.attempt.status)) return chargeResult(current);
    const now = clockOf(current);
    const settlement = build(deps, current, outcome, factsUnlessSentSince(context.attempt.sentAt, current.attempt.sentAt, facts), now);
    const leased = await writeChargeSettlement(deps.db, settlement);
    if (leased !== null) {
      deps.offerDeliveries(leased);
      if (settlement.attempt.settled) return { state: 'settled', outcome: settlement.attempt.status };
      return { state: 'waiting', why: 'unknown', nextLookAtMs: settlement.payment.dueAt?.getTime() ?? now.getTime() };
    }
    current = await readDirectCharge(deps.db, context.attempt.id);
  }
  throw new Error(`charge ${context.attempt.id} could not be settled: its rows kept moving`);
}

/** How the attempt stands by its row. */
export function chargeResult(context: ChargeContext): MoneyResult {
  const { status, lookups } = context.attempt;
  if (['requested', 'claimed', 'unknown'].includes(status)) return { state: 'waiting', why: 'unknown', nextLookAtMs: clockOf(context).getTime() + lookupWaitMs(lookups) };
  return { state: 'settled', outcome: status };
}

function build(deps: OperationDeps, context: ChargeContext, outcome: LookupOutcome, facts: MoneyFacts, now: Date): ChargeSettlement {
  switch (outcome.kind) {
    case 'captured':
    case 'authorized':
      return isAsAsked(context, outcome) ? approve(deps, context, outcome, now) : stayUnknown(context, { kind: 'unknown', reason: 'mismatch' }, facts, now);
    case 'declined':
      return outcome.declineCode === 'authentication_required'
        ? demandAuthentication(deps, context, outcome, now)
        : fail(deps, context, 'declined', outcome, { code: 'card_declined', decline_code: outcome.declineCode, message: outcome.message, retryable: isRetryable(outcome.declineCode) }, now);
    case 'cancelled':
      return demandAuthentication(deps, context, null, now);
    case 'requires_action':
    case 'unknown':
      return stayUnknown(context, outcome, facts, now);
    case 'unreached':
      if (facts.mayHaveBeenSent) return stayUnknown(context, null, facts, now, unreachableLookupWaitMs);
      return fail(deps, context, 'unreached', outcome, { code: 'gateway_unavailable', decline_code: null, message: 'The gateway was not reached; the card was not charged.', retryable: true }, now);
    case 'not_found':
      if (!facts.notFoundIsFinal) return stayUnknown(context, null, facts, now);
      return fail(deps, context, 'unreached', null, { code: 'not_charged', decline_code: null, message: 'The gateway never processed this payment; the card was not charged.', retryable: true }, now);
  }
}

function isAsAsked(context: ChargeContext, outcome: ApprovedOutcome): boolean {
  return outcome.amountMinor === context.payment.amount && outcome.currency === context.payment.currency;
}

function base(context: ChargeContext): Pick<ChargeSettlement, 'attemptId' | 'expected' | 'session'> {
  return { attemptId: context.attempt.id, expected: { attemptStatus: context.attempt.status, sequence: context.payment.eventSequence, sentAt: null }, session: null };
}

function approve(deps: OperationDeps, context: ChargeContext, outcome: ApprovedOutcome, now: Date): ChargeSettlement {
  const captured = outcome.kind === 'captured';
  const sequence = context.payment.eventSequence + 1;
  const facts = paymentFacts(deps, context.payment, { status: outcome.kind, capturedAt: captured ? now : null });
  return {
    ...base(context),
    attempt: { status: 'approved', outcome: { ...outcome, reusableReference: null }, settled: true, lookups: context.attempt.lookups },
    payment: {
      status: outcome.kind,
      amountCapturedMinor: captured ? outcome.amountMinor : 0,
      gatewayTransactionId: outcome.gatewayTransactionId,
      failure: null,
      pendingOperation: null,
      sequence,
      authorizedAt: now,
      capturedAt: captured ? now : null,
      dueAt: captured ? null : new Date(now.getTime() + authorizationLapseMs),
    },
    events: [paymentEvent(deps, captured ? 'payment.completed' : 'payment.authorized', facts, sequence, now)],
  };
}

function fail(deps: OperationDeps, context: ChargeContext, status: 'declined' | 'unreached', outcome: ChargeOutcome | null, failure: PaymentFailure, now: Date): ChargeSettlement {
  const sequence = context.payment.eventSequence + 1;
  const facts = paymentFacts(deps, context.payment, { status: 'failed', tokenId: null });
  // A decline is the gateway's word; that nothing was charged is concluded, and only from what this run sent.
  const sentAt = outcome?.kind === 'declined' ? null : context.attempt.sentAt;
  return {
    ...base(context),
    expected: { ...base(context).expected, sentAt },
    attempt: { status, outcome, settled: true, lookups: context.attempt.lookups },
    payment: {
      status: 'failed',
      amountCapturedMinor: 0,
      gatewayTransactionId: outcome?.kind === 'declined' ? outcome.gatewayTransactionId : null,
      failure,
      pendingOperation: null,
      sequence,
      authorizedAt: null,
      capturedAt: null,
      dueAt: null,
    },
    events: [paymentEvent(deps, 'payment.failed', facts, sequence, now, failure)],
  };
}

/** A real session for that saved card only. It announces nothing: the payment is the one already known. */
function demandAuthentication(deps: OperationDeps, context: ChargeContext, outcome: ChargeOutcome | null, now: Date): ChargeSettlement {
  const id = deps.newId('session');
  const ownPage = checkoutUrl(deps, id);
  const { successUrl, failureUrl } = context.attempt.payer;
  return {
    ...base(context),
    attempt: { status: 'declined', outcome, settled: true, lookups: context.attempt.lookups },
    payment: {
      status: 'requires_action',
      amountCapturedMinor: 0,
      gatewayTransactionId: null,
      failure: null,
      pendingOperation: null,
      sequence: context.payment.eventSequence,
      authorizedAt: null,
      capturedAt: null,
      dueAt: null,
    },
    session: { id, successUrl: successUrl ?? ownPage, failureUrl: failureUrl ?? ownPage, expiresAt: new Date(now.getTime() + expiresInMinutes.default * 60_000) },
    events: [],
  };
}

function stayUnknown(context: ChargeContext, outcome: ChargeOutcome | null, facts: MoneyFacts, now: Date, waitMs = lookupWaitMs(facts.lookups)): ChargeSettlement {
  return {
    ...base(context),
    attempt: { status: 'unknown', outcome, settled: false, lookups: facts.lookups },
    payment: {
      status: 'processing',
      amountCapturedMinor: 0,
      gatewayTransactionId: null,
      failure: null,
      pendingOperation: 'charge',
      sequence: context.payment.eventSequence,
      authorizedAt: null,
      capturedAt: null,
      dueAt: new Date(now.getTime() + waitMs),
    },
    events: [],
  };
}
