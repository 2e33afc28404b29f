// What the session workflow calls. A money step is claim, charge, settle: each begins from the row and can be run again.
// Activities decide nothing about time or order; that is the workflow's.
import { Context } from '@temporalio/activity';
import { lastClaimBeforeExpiryMs } from '../domain/checkout-session.ts';
import type { ChargeOutcome, LookupOutcome } from '../domain/gateway-outcome.ts';
import type { Gateway, GatewayCall } from '../gateways/gateway.ts';
import type { GatewayRegistry } from '../gateways/registry.ts';
import { fitsATask } from '../gateways/task-budget.ts';
import { markSentAgain } from '../models/gateway-call.ts';
import { type AttemptContext, claimAttempt, clockNow, readAttemptContext } from '../models/payment-attempt.ts';
import { checkoutToken } from '../operations/checkout-url.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { endSession } from '../operations/end-session.ts';
import { resultOf, settleAttempt } from '../operations/settle-attempt.ts';
import { unseal } from '../platform/seal.ts';
import type { AttemptResult, CancelCommand, EndResult, TooSlowForATask } from '../temporal/contract.ts';
import { rungs } from './money-step.ts';
import { timedCall } from './timed-call.ts';

export interface CheckoutSessionActivities {
  /** Claim, charge, settle. Run again after a crash it looks up before it sends. */
  payAttempt(input: { attemptId: string }): Promise<AttemptResult | TooSlowForATask>;
  /** The rest of it for a gateway that may take longer than a workflow task has. */
  sendAttempt(input: { attemptId: string; resumed: boolean }): Promise<AttemptResult>;
  /** Asks the gateway what became of the charge and settles by its answer. `withinMs` cuts short what the gateway allows itself. */
  lookUpAttempt(input: { attemptId: string; withinMs?: number }): Promise<AttemptResult>;
  /** Cancels an authentication nobody finished; the gateway's answer decides. */
  giveUpAttempt(input: { attemptId: string }): Promise<AttemptResult>;
  endSessionNow(input: { sessionId: string; to: CancelCommand['to'] }): Promise<EndResult>;
  /** Expires the session if Postgres' clock says so. */
  endDueSession(input: { sessionId: string }): Promise<EndResult>;
}

export interface CheckoutSessionActivityDeps {
  readonly operations: OperationDeps;
  readonly gateways: GatewayRegistry;
  readonly recordGatewayCall: (call: GatewayCallRecord) => void;
  readonly alert: (kind: string, fields: Readonly<Record<string, string>>) => void;
  /** Ends calls in flight at shutdown. */
  readonly signal: AbortSignal;
}

/** A call to a gateway as it is kept: kind, code and duration, no card data. */
export interface GatewayCallRecord {
  readonly merchantId: string;
  readonly mode: 'test' | 'live';
  readonly transactionId: string | null;
  readonly gateway: string;
  readonly kind: string;
  readonly code: string;
  readonly durationMs: number;
  readonly createdAt: Date;
}

export function createCheckoutSessionActivities(deps: CheckoutSessionActivityDeps): CheckoutSessionActivities {
  const { operations } = deps;
  const { db } = operations;

  const timed = <Outcome extends { kind: string }>(context: AttemptContext, kind: string, call: () => Promise<Outcome>): Promise<Outcome> => {
    const { merchantId, mode, transactionId } = context.session;
    return timedCall(deps.recordGatewayCall, { merchantId, mode, transactionId, gateway: context.attempt.gateway, kind, createdAt: clockNow(context) }, call);
  };

  const charge = (context: AttemptContext, gateway: Gateway, call: GatewayCall): Promise<ChargeOutcome> => {
    const { attempt, session } = context;
    return timed(context, 'charge', () =>
      gateway.charge(
        {
          key: attempt.gatewayKey,
          reference: attempt.transactionId,
          cardReference: unseal(operations.keyRing, 'gateway-token', attempt.tokenId ?? attempt.id, attempt.sealedCardReference),
          amountMinor: session.amount,
          currency: session.currency,
          capture: session.capture,
          initiatedBy: attempt.initiatedBy,
          returnUrl: `${operations.publicUrl}/checkout/${checkoutToken(operations, session.id)}/return`,
        },
        call,
      ),
    );
  };

  const lookUp = (context: AttemptContext, gateway: Gateway, call: GatewayCall): Promise<LookupOutcome> =>
    timed(context, 'lookup', () => gateway.lookupCharge({ key: context.attempt.gatewayKey, reference: context.attempt.transactionId }, call));

  const gatewayOf = (context: AttemptContext): { gateway: Gateway; call: GatewayCall } => {
    const { session, attempt } = context;
    const gateway = deps.gateways.open(attempt.gateway);
    if (gateway === null) throw new Error(`attempt ${attempt.id} belongs to the gateway ${attempt.gateway}, which is not configured`);
    return { gateway, call: { merchantId: session.merchantId, mode: session.mode, signal: deps.signal } };
  };

  const settle = async (context: AttemptContext, outcome: LookupOutcome, facts: { lookups: number; mayHaveBeenSent: boolean }): Promise<AttemptResult> => {
    const { gateway } = gatewayOf(context);
    const sentAgoMs = context.attempt.sentAt === null ? 0 : clockNow(context).getTime() - context.attempt.sentAt.getTime();
    if ((outcome.kind === 'captured' || outcome.kind === 'authorized') && (outcome.amountMinor !== context.session.amount || outcome.currency !== context.session.currency)) {
      deps.alert('gateway_amount_mismatch', { payment: context.session.transactionId, asked: `${context.session.amount} ${context.session.currency}`, answered: `${outcome.amountMinor} ${outcome.currency}` });
    }
    return settleAttempt(operations, context, outcome, { ...facts, notFoundIsFinal: sentAgoMs >= gateway.capabilities.notFoundFinalAfterMs });
  };

  const rungsOf = (context: AttemptContext, outcome: LookupOutcome): number => rungs(context.attempt.lookups, outcome);

  /** Goes on where an earlier run was cut off: it may have charged. */
  const resume = async (context: AttemptContext, gateway: Gateway, call: GatewayCall): Promise<AttemptResult> => {
    const found = await lookUp(context, gateway, call);
    if (found.kind !== 'not_found') return settle(context, found, { lookups: rungsOf(context, found), mayHaveBeenSent: true });
    // An earlier run that is not dead after all may have settled it while the gateway was asked.
    if (!(await markSentAgain(db, context.attempt.id))) return resultOf(await readAttemptContext(db, context.attempt.id));
    return settle(context, await charge(context, gateway, call), { lookups: context.attempt.lookups, mayHaveBeenSent: true });
  };

  return {
    async payAttempt({ attemptId }) {
      const claim = await claimAttempt(db, attemptId, lastClaimBeforeExpiryMs);
      const { context } = claim;
      if (claim.state === 'refused' || claim.state === 'settled') return resultOf(context);
      const { gateway, call } = gatewayOf(context);
      // At the bank or waiting for a look-up: that has its own pace. A claimed one was cut off by a crash.
      if (context.attempt.status !== 'claimed') return resultOf(context);
      const resumed = claim.state === 'resumed';
      if (!fitsATask(gateway)) return { state: 'slow', resumed };
      return resumed ? resume(context, gateway, call) : settle(context, await charge(context, gateway, call), { lookups: 0, mayHaveBeenSent: false });
    },

    async sendAttempt({ attemptId, resumed }) {
      const context = await readAttemptContext(db, attemptId);
      if (context.attempt.status !== 'claimed') return resultOf(context);
      const { gateway, call } = gatewayOf(context);
      if (resumed || Context.current().info.attempt > 1) return resume(context, gateway, call);
      return settle(context, await charge(context, gateway, call), { lookups: 0, mayHaveBeenSent: false });
    },

    async lookUpAttempt({ attemptId, withinMs }) {
      const context = await readAttemptContext(db, attemptId);
      if (context.attempt.status !== 'unknown' && context.attempt.status !== 'requires_action' && context.attempt.status !== 'claimed') return resultOf(context);
      const { gateway, call } = gatewayOf(context);
      const signal = withinMs === undefined ? deps.signal : AbortSignal.any([deps.signal, AbortSignal.timeout(withinMs)]);
      const outcome = await lookUp(context, gateway, { ...call, signal });
      return settle(context, outcome, { lookups: rungsOf(context, outcome), mayHaveBeenSent: true });
    },

    async giveUpAttempt({ attemptId }) {
      const context = await readAttemptContext(db, attemptId);
      if (context.attempt.status !== 'requires_action') return resultOf(context);
      const { gateway, call } = gatewayOf(context);
      const outcome = await timed(context, 'cancel', () =>
        gateway.cancelCharge({ key: context.attempt.gatewayKey, reference: context.attempt.transactionId }, call),
      );
      return settle(context, outcome, { lookups: rungsOf(context, outcome), mayHaveBeenSent: true });
    },

    endSessionNow: ({ sessionId, to }) => endSession(operations, sessionId, to, 'now'),
    endDueSession: ({ sessionId }) => endSession(operations, sessionId, 'expired', 'due'),
  };
}
