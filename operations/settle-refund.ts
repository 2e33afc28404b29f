// Turns what the gateway said of a refund into the refund's and the payment's new state with their events, in one
// compare-and-set. A refund is final only when it has succeeded or failed; until then its amount is held.
import { lookupWaitMs, unreachableLookupWaitMs } from '../domain/reconcile-schedule.ts';
import type { OperationOutcome } from '../domain/gateway-outcome.ts';
import type { NewEvent } from '../models/outbox.ts';
import { readRefund, type RefundContext, type RefundSettlement, type RefundStep, writeRefundSettlement } from '../models/refund-moves.ts';
import { presentRefundEvent } from '../presenters/refund.ts';
import type { MoneyResult } from '../temporal/contract.ts';
import { makeEvent } from '../webhooks/envelope.ts';
import type { OperationDeps } from './deps.ts';
import { clockOf, factsUnlessSentSince, maxSettleRaces, type MoneyFacts, paymentFacts } from './money-facts.ts';

/** A refund the gateway works on is asked for once a day, beside its notifications. */
const pollMs = 24 * 60 * 60_000;

type Answer = OperationOutcome | { readonly kind: 'not_found' };

/** @returns how the refund stands, also when somebody else settled it first */
export async function settleRefund(deps: OperationDeps, context: RefundContext, outcome: Answer, facts: MoneyFacts): Promise<MoneyResult> {
  let current = context;
  for (let race = 0; race < maxSettleRaces; race++) {
    if (current.refund.step === 'settled') return refundResult(current);
    const settlement = build(deps, current, outcome, factsUnlessSentSince(context.refund.sentAt, current.refund.sentAt, facts), clockOf(current));
    const leased = await writeRefundSettlement(deps.db, settlement);
    if (leased !== null) {
      deps.offerDeliveries(leased);
      const { step, status, dueAt } = settlement.refund;
      if (step === 'settled') return { state: 'settled', outcome: status };
      return { state: 'waiting', why: step === 'at_gateway' ? 'pending' : 'unknown', nextLookAtMs: dueAt?.getTime() ?? 0 };
    }
    current = await readRefund(deps.db, context.refund.id);
  }
  throw new Error(`refund ${context.refund.id} could not be settled: its rows kept moving`);
}

export function refundResult(context: RefundContext): MoneyResult {
  const { step, status, lookups } = context.refund;
  if (step === 'settled') return { state: 'settled', outcome: status };
  const pending = step === 'at_gateway';
  return { state: 'waiting', why: pending ? 'pending' : 'unknown', nextLookAtMs: clockOf(context).getTime() + (pending ? pollMs : lookupWaitMs(lookups)) };
}

function build(deps: OperationDeps, context: RefundContext, outcome: Answer, facts: MoneyFacts, now: Date): RefundSettlement {
  const { refund, payment } = context;
  switch (outcome.kind) {
    case 'succeeded':
      if (outcome.amountMinor !== refund.amount || outcome.currency !== payment.currency) return open(context, 'unknown', null, facts, now, lookupWaitMs(facts.lookups));
      return succeed(deps, context, outcome.gatewayOperationId, facts, now);
    case 'pending':
      return open(context, 'at_gateway', outcome.gatewayOperationId, facts, now, pollMs);
    case 'failed':
      return fail(deps, context, outcome.failureCode, facts, now);
    case 'unknown':
      return open(context, keepStep(refund.step), null, facts, now, lookupWaitMs(facts.lookups));
    case 'unreached':
      if (facts.mayHaveBeenSent) return open(context, keepStep(refund.step), null, facts, now, unreachableLookupWaitMs);
      return fail(deps, context, 'gateway_unavailable', facts, now);
    case 'not_found':
      if (facts.notFoundIsFinal && refund.step !== 'at_gateway') return fail(deps, context, 'not_processed', facts, now);
      return open(context, keepStep(refund.step), null, facts, now, lookupWaitMs(facts.lookups));
  }
}

/** Our own codes for what the gateway never said. */
function isConcluded(failureCode: string): boolean {
  return failureCode === 'gateway_unavailable' || failureCode === 'not_processed';
}

/** The gateway has said that it works on it: a lost look-up does not make that unknown again. */
function keepStep(step: RefundStep): 'unknown' | 'at_gateway' {
  return step === 'at_gateway' ? 'at_gateway' : 'unknown';
}

function base(context: RefundContext): Pick<RefundSettlement, 'refundId' | 'expected'> {
  return { refundId: context.refund.id, expected: { step: context.refund.step, sequence: context.payment.eventSequence, sentAt: null } };
}

function open(context: RefundContext, step: 'unknown' | 'at_gateway', gatewayRefundId: string | null, facts: MoneyFacts, now: Date, waitMs: number): RefundSettlement {
  const { payment } = context;
  return {
    ...base(context),
    refund: { status: 'pending', step, gatewayRefundId, failureCode: null, lookups: facts.lookups, completedAt: null, dueAt: new Date(now.getTime() + waitMs) },
    payment: { status: payment.status, releasedMinor: 0, refundedMinor: 0, sequence: payment.eventSequence },
    events: [],
  };
}

function succeed(deps: OperationDeps, context: RefundContext, gatewayRefundId: string, facts: MoneyFacts, now: Date): RefundSettlement {
  const { refund, payment } = context;
  const refunded = payment.amountRefunded + refund.amount;
  const status = refunded === payment.amountCaptured ? 'refunded' : 'partially_refunded';
  // A part announces itself twice: under its own name and as a refund. Specification: Events.
  const names = refund.type === 'full' ? (['payment.refunded'] as const) : (['payment.partially_refunded', 'payment.refunded'] as const);
  const done = { ...refund, status: 'succeeded' as const, gatewayRefundId, completedAt: now };
  const events = names.map((name, i) => refundEvent(deps, name, { ...context, refund: done }, { status, amountRefundedMinor: refunded }, payment.eventSequence + 1 + i, now));
  return {
    ...base(context),
    refund: { status: 'succeeded', step: 'settled', gatewayRefundId, failureCode: null, lookups: facts.lookups, completedAt: now, dueAt: null },
    payment: { status, releasedMinor: refund.amount, refundedMinor: refund.amount, sequence: payment.eventSequence + events.length },
    events,
  };
}

function fail(deps: OperationDeps, context: RefundContext, failureCode: string, facts: MoneyFacts, now: Date): RefundSettlement {
  const { refund, payment } = context;
  // The caller of a refund refused at once has it in the answer; one that was answered "pending" is told by an event.
  const wasAnsweredPending = refund.step === 'at_gateway' || refund.step === 'unknown';
  const failed = { ...refund, status: 'failed' as const, failureCode, completedAt: now };
  const changes = { status: payment.status, amountRefundedMinor: payment.amountRefunded };
  const events = wasAnsweredPending ? [refundEvent(deps, 'payment.refund_failed', { ...context, refund: failed }, changes, payment.eventSequence + 1, now)] : [];
  return {
    ...base(context),
    // A refusal is the gateway's word; that nothing happened is concluded, and only from what this run sent.
    expected: { ...base(context).expected, sentAt: isConcluded(failureCode) ? refund.sentAt : null },
    refund: { status: 'failed', step: 'settled', gatewayRefundId: null, failureCode, lookups: facts.lookups, completedAt: now, dueAt: null },
    payment: { status: payment.status, releasedMinor: refund.amount, refundedMinor: 0, sequence: payment.eventSequence + events.length },
    events,
  };
}

function refundEvent(
  deps: OperationDeps,
  type: 'payment.refunded' | 'payment.partially_refunded' | 'payment.refund_failed',
  context: RefundContext,
  changes: { status: RefundContext['payment']['status']; amountRefundedMinor: number },
  sequence: number,
  now: Date,
): NewEvent {
  const { payment, refund } = context;
  const ofMetadata = payment.metadata['order_id'];
  // The merchant's own order, however they told it; the session's id only when they never did.
  const orderId = refund.orderId ?? payment.orderId ?? (typeof ofMetadata === 'string' ? ofMetadata : payment.sessionId);
  const facts = paymentFacts(deps, payment, { status: changes.status, orderId, sessionId: null });
  return makeEvent({
    id: deps.newId('event'),
    type,
    mode: payment.mode,
    createdAt: now,
    sequence,
    resourceType: 'payment',
    resourceId: payment.id,
    data: presentRefundEvent(facts, changes.amountRefundedMinor, refund),
  });
}
