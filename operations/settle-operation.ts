// Turns what the gateway said of a capture or a void into the payment's new state with its events, in one compare-and-set.
import { lookupWaitMs, unreachableLookupWaitMs } from '../domain/reconcile-schedule.ts';
import type { OperationOutcome } from '../domain/gateway-outcome.ts';
import { type OperationContext, type OperationSettlement, type OperationStatus, readOperation, writeOperationSettlement } from '../models/payment-operation.ts';
import { presentVoid } from '../presenters/payment-payload.ts';
import type { MoneyResult } from '../temporal/contract.ts';
import { makeEvent } from '../webhooks/envelope.ts';
import type { OperationDeps } from './deps.ts';
import { clockOf, factsUnlessSentSince, maxSettleRaces, type MoneyFacts, paymentFacts } from './money-facts.ts';
import { paymentEvent } from './payment-events.ts';

/** Why a lapsed authorisation is voided; such a void makes the payment `expired` instead of `voided`. */
export const lapseReason = 'authorization_expired';

type Answer = OperationOutcome | { readonly kind: 'not_found' };

/** @returns how the operation stands, also when somebody else settled it first */
export async function settleOperation(deps: OperationDeps, context: OperationContext, outcome: Answer, facts: MoneyFacts): Promise<MoneyResult> {
  let current = context;
  for (let race = 0; race < maxSettleRaces; race++) {
    if (!isOpen(current.operation.status)) return operationResult(current);
    const settlement = build(deps, current, outcome, factsUnlessSentSince(context.operation.sentAt, current.operation.sentAt, facts), clockOf(current));
    const leased = await writeOperationSettlement(deps.db, settlement);
    if (leased !== null) {
      deps.offerDeliveries(leased);
      if (settlement.operation.settled) return { state: 'settled', outcome: settlement.operation.status };
      return { state: 'waiting', why: 'unknown', nextLookAtMs: settlement.operation.dueAt?.getTime() ?? 0 };
    }
    current = await readOperation(deps.db, context.operation.id);
  }
  throw new Error(`operation ${context.operation.id} could not be settled: its rows kept moving`);
}

function isOpen(status: OperationStatus): boolean {
  return status === 'requested' || status === 'claimed' || status === 'unknown';
}

export function operationResult(context: OperationContext): MoneyResult {
  const { status, lookups } = context.operation;
  if (isOpen(status)) return { state: 'waiting', why: 'unknown', nextLookAtMs: clockOf(context).getTime() + lookupWaitMs(lookups) };
  return { state: 'settled', outcome: status };
}

function build(deps: OperationDeps, context: OperationContext, outcome: Answer, facts: MoneyFacts, now: Date): OperationSettlement {
  switch (outcome.kind) {
    case 'succeeded': {
      const { operation, payment } = context;
      const mismatched = operation.kind === 'capture' && (outcome.amountMinor !== operation.amount || outcome.currency !== payment.currency);
      if (mismatched) return stayUnknown(context, facts, now);
      return operation.kind === 'capture' ? captured(deps, context, facts, now) : voided(deps, context, facts, now);
    }
    case 'pending':
    case 'unknown':
      return stayUnknown(context, facts, now);
    case 'failed':
      return backToAuthorized(context, 'failed', outcome.failureCode, facts);
    case 'unreached':
      return facts.mayHaveBeenSent ? stayUnknown(context, facts, now, unreachableLookupWaitMs) : backToAuthorized(context, 'unreached', 'gateway_unavailable', facts);
    case 'not_found':
      return facts.notFoundIsFinal ? backToAuthorized(context, 'unreached', 'not_processed', facts) : stayUnknown(context, facts, now);
  }
}

function base(context: OperationContext): Pick<OperationSettlement, 'operationId' | 'expected'> {
  return { operationId: context.operation.id, expected: { status: context.operation.status, sequence: context.payment.eventSequence, sentAt: null } };
}

function captured(deps: OperationDeps, context: OperationContext, facts: MoneyFacts, now: Date): OperationSettlement {
  const sequence = context.payment.eventSequence + 1;
  const payment = paymentFacts(deps, context.payment, { status: 'captured', amountMinor: context.operation.amount, capturedAt: now });
  return {
    ...base(context),
    operation: { status: 'succeeded', failureCode: null, lookups: facts.lookups, settled: true, dueAt: null },
    payment: { status: 'captured', amountCapturedMinor: context.operation.amount, pendingOperation: null, sequence, capturedAt: now, voidedAt: null, lapsesAt: null },
    events: [paymentEvent(deps, 'payment.completed', payment, sequence, now)],
  };
}

function voided(deps: OperationDeps, context: OperationContext, facts: MoneyFacts, now: Date): OperationSettlement {
  const sequence = context.payment.eventSequence + 1;
  const status = context.operation.reason === lapseReason ? 'expired' : 'voided';
  const payment = paymentFacts(deps, context.payment, { status });
  return {
    ...base(context),
    operation: { status: 'succeeded', failureCode: null, lookups: facts.lookups, settled: true, dueAt: null },
    payment: { status, amountCapturedMinor: 0, pendingOperation: null, sequence, capturedAt: null, voidedAt: now, lapsesAt: null },
    events: [
      makeEvent({
        id: deps.newId('event'),
        type: 'payment.voided',
        mode: payment.mode,
        createdAt: now,
        sequence,
        resourceType: 'payment',
        resourceId: payment.id,
        data: presentVoid(payment, context.operation.reason, now),
      }),
    ],
  };
}

/** Nothing happened at the gateway: the authorisation stands as it did, its lapse too. */
function backToAuthorized(context: OperationContext, status: 'failed' | 'unreached', failureCode: string, facts: MoneyFacts): OperationSettlement {
  return {
    ...base(context),
    // A refusal is the gateway's word; that nothing happened is concluded, and only from what this run sent.
    expected: { ...base(context).expected, sentAt: status === 'failed' ? null : context.operation.sentAt },
    operation: { status, failureCode, lookups: facts.lookups, settled: true, dueAt: null },
    payment: unchanged(context, 'authorized', null),
    events: [],
  };
}

function stayUnknown(context: OperationContext, facts: MoneyFacts, now: Date, waitMs = lookupWaitMs(facts.lookups)): OperationSettlement {
  return {
    ...base(context),
    operation: { status: 'unknown', failureCode: null, lookups: facts.lookups, settled: false, dueAt: new Date(now.getTime() + waitMs) },
    payment: unchanged(context, 'processing', context.operation.kind),
    events: [],
  };
}

function unchanged(context: OperationContext, status: 'authorized' | 'processing', pendingOperation: string | null): OperationSettlement['payment'] {
  const { payment } = context;
  return { status, amountCapturedMinor: 0, pendingOperation, sequence: payment.eventSequence, capturedAt: null, voidedAt: null, lapsesAt: payment.lapsesAt };
}
