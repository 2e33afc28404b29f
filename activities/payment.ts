// What the money workflows call: one step of one operation (claim, gateway, settle), its look-up, and the beginning of a
// lapse. Run again after a crash a step looks up before it sends.
import { Context } from '@temporalio/activity';
import type { LookupOutcome } from '../domain/gateway-outcome.ts';
import type { Gateway, GatewayCall, OperationOutcome } from '../gateways/gateway.ts';
import type { GatewayRegistry } from '../gateways/registry.ts';
import { fitsATask } from '../gateways/task-budget.ts';
import type { AttemptStatus } from '../domain/transaction.ts';
import { type ChargeContext, claimDirectCharge, readDirectCharge } from '../models/direct-charge.ts';
import { markOperationSentAgain } from '../models/gateway-call.ts';
import { claimOperation, type OperationContext, type OperationStatus, readOperation } from '../models/payment-operation.ts';
import type { PaymentRow } from '../models/payment-row.ts';
import { claimRefund, readRefund, type RefundContext } from '../models/refund-moves.ts';
import { beginLapse, type BegunLapse } from '../operations/begin-lapse.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { clockOf, type MoneyFacts } from '../operations/money-facts.ts';
import { chargeResult, settleCharge } from '../operations/settle-charge.ts';
import { operationResult, settleOperation } from '../operations/settle-operation.ts';
import { refundResult, settleRefund } from '../operations/settle-refund.ts';
import { unseal } from '../platform/seal.ts';
import type { MoneyInput, MoneyResult, TooSlowForATask } from '../temporal/contract.ts';
import type { GatewayCallRecord } from './checkout-session.ts';
import { moneySteps, type Stage } from './money-step.ts';
import { timedCall } from './timed-call.ts';

export interface PaymentActivities {
  /** Claim, gateway, settle. */
  performOperation(input: MoneyInput): Promise<MoneyResult | TooSlowForATask>;
  /** The rest of it for a gateway that may take longer than a workflow task has. */
  sendOperation(input: MoneyInput & { resumed: boolean }): Promise<MoneyResult>;
  /** Asks the gateway what became of it and settles by its answer. */
  lookUpOperation(input: MoneyInput): Promise<MoneyResult>;
  beginLapse(input: { transactionId: string }): Promise<BegunLapse>;
}

export interface PaymentActivityDeps {
  readonly operations: OperationDeps;
  readonly gateways: GatewayRegistry;
  readonly recordGatewayCall: (call: GatewayCallRecord) => void;
  readonly alert: (kind: string, fields: Readonly<Record<string, string>>) => void;
  /** Told when an operation needs nothing more, for callers that wait in this process. */
  readonly settled: (operationId: string) => void;
  readonly signal: AbortSignal;
}

type Read = { readonly payment: PaymentRow; readonly readMonotonicMs: number };

export function createPaymentActivities(deps: PaymentActivityDeps): PaymentActivities {
  const { operations } = deps;
  const { db } = operations;

  const gatewayOf = (payment: PaymentRow): { gateway: Gateway; call: GatewayCall } => {
    const gateway = deps.gateways.open(payment.gateway);
    if (gateway === null) throw new Error(`payment ${payment.id} belongs to the gateway ${payment.gateway}, which is not configured`);
    return { gateway, call: { merchantId: payment.merchantId, mode: payment.mode, signal: deps.signal } };
  };

  const timed = <Outcome extends { kind: string }>(read: Read, kind: string, call: () => Promise<Outcome>): Promise<Outcome> => {
    const { id: transactionId, merchantId, mode, gateway } = read.payment;
    return timedCall(deps.recordGatewayCall, { merchantId, mode, transactionId, gateway, kind, createdAt: clockOf(read) }, call);
  };

  const factsOf = (read: Read, sentAt: Date | null, told: { lookups: number; mayHaveBeenSent: boolean }): MoneyFacts => ({
    ...told,
    notFoundIsFinal: sentAt !== null && clockOf(read).getTime() - sentAt.getTime() >= gatewayOf(read.payment).gateway.capabilities.notFoundFinalAfterMs,
  });

  const flagMismatch = (payment: PaymentRow, asked: number, outcome: { kind: string; amountMinor?: number; currency?: string }): void => {
    if (outcome.amountMinor === undefined || (outcome.amountMinor === asked && outcome.currency === payment.currency)) return;
    deps.alert('gateway_amount_mismatch', { payment: payment.id, asked: `${asked} ${payment.currency}`, answered: `${outcome.amountMinor} ${outcome.currency}` });
  };

  const lookUpRequest = (key: string, payment: PaymentRow) => ({ key, reference: payment.id, gatewayTransactionId: payment.gatewayTransactionId });

  /** Nobody is there to answer a challenge: it is given up at the gateway, so that the customer's own attempt is the only one. */
  const giveUpChallenge = async (context: ChargeContext, outcome: LookupOutcome): Promise<LookupOutcome> => {
    if (outcome.kind !== 'requires_action') return outcome;
    const { gateway, call } = gatewayOf(context.payment);
    return timed(context, 'cancel', () => gateway.cancelCharge(lookUpRequest(context.attempt.gatewayKey, context.payment), call));
  };

  const charge = moneySteps<ChargeContext, LookupOutcome>({
    claim: (id) => claimDirectCharge(db, id),
    read: (id) => readDirectCharge(db, id),
    stage: ({ attempt }) => stageOf(attempt.status),
    fitsATask: ({ payment }) => fitsATask(gatewayOf(payment).gateway),
    async send(context) {
      const { attempt, payment } = context;
      const { gateway, call } = gatewayOf(payment);
      const request = {
        key: attempt.gatewayKey,
        reference: payment.id,
        cardReference: unseal(operations.keyRing, 'gateway-token', attempt.tokenId, attempt.sealedCardReference),
        amountMinor: payment.amount,
        currency: payment.currency,
        capture: payment.capture,
        initiatedBy: 'merchant' as const,
        returnUrl: null,
      };
      return giveUpChallenge(context, await timed(context, 'charge', () => gateway.charge(request, call)));
    },
    async lookUp(context) {
      const { gateway, call } = gatewayOf(context.payment);
      return giveUpChallenge(context, await timed(context, 'lookup', () => gateway.lookupCharge(lookUpRequest(context.attempt.gatewayKey, context.payment), call)));
    },
    lookups: ({ attempt }) => attempt.lookups,
    markSentAgain: (id) => markOperationSentAgain(db, 'charge', id),
    settle(context, outcome, told) {
      if (outcome.kind === 'captured' || outcome.kind === 'authorized') flagMismatch(context.payment, context.payment.amount, outcome);
      return settleCharge(operations, context, outcome, factsOf(context, context.attempt.sentAt, told));
    },
    result: chargeResult,
  });

  const authorization = moneySteps<OperationContext, OperationOutcome>({
    claim: (id) => claimOperation(db, id),
    read: (id) => readOperation(db, id),
    stage: ({ operation }) => stageOf(operation.status),
    fitsATask: ({ payment }) => fitsATask(gatewayOf(payment).gateway),
    send(context) {
      const { operation, payment } = context;
      const { gateway, call } = gatewayOf(payment);
      const request = { key: operation.gatewayKey, reference: payment.id, gatewayTransactionId: payment.gatewayTransactionId ?? '' };
      return timed(context, operation.kind, () =>
        operation.kind === 'capture' ? gateway.captureCharge({ ...request, amountMinor: operation.amount, currency: payment.currency }, call) : gateway.voidCharge(request, call),
      );
    },
    lookUp(context) {
      const { gateway, call } = gatewayOf(context.payment);
      return timed(context, 'lookup', () => gateway.lookupOperation(lookUpRequest(context.operation.gatewayKey, context.payment), call));
    },
    lookups: ({ operation }) => operation.lookups,
    markSentAgain: (id) => markOperationSentAgain(db, 'authorization', id),
    settle(context, outcome, told) {
      if (context.operation.kind === 'capture' && outcome.kind === 'succeeded') flagMismatch(context.payment, context.operation.amount, outcome);
      return settleOperation(operations, context, outcome, factsOf(context, context.operation.sentAt, told));
    },
    result: operationResult,
  });

  const refund = moneySteps<RefundContext, OperationOutcome>({
    claim: (id) => claimRefund(db, id),
    read: (id) => readRefund(db, id),
    stage: ({ refund: { step } }) => (step === 'settled' ? 'over' : step === 'at_gateway' ? 'waiting' : stageOf(step)),
    fitsATask: ({ payment }) => fitsATask(gatewayOf(payment).gateway),
    send(context) {
      const { refund: row, payment } = context;
      const { gateway, call } = gatewayOf(payment);
      const request = { key: row.gatewayKey, reference: payment.id, gatewayTransactionId: payment.gatewayTransactionId ?? '', amountMinor: row.amount, currency: row.currency };
      return timed(context, 'refund', () => gateway.refundCharge(request, call));
    },
    lookUp(context) {
      const { gateway, call } = gatewayOf(context.payment);
      return timed(context, 'lookup', () => gateway.lookupOperation(lookUpRequest(context.refund.gatewayKey, context.payment), call));
    },
    lookups: ({ refund: row }) => row.lookups,
    markSentAgain: (id) => markOperationSentAgain(db, 'refund', id),
    settle(context, outcome, told) {
      if (outcome.kind === 'succeeded') flagMismatch(context.payment, context.refund.amount, outcome);
      return settleRefund(operations, context, outcome, factsOf(context, context.refund.sentAt, told));
    },
    result: refundResult,
  });

  const steps = { charge, capture: authorization, void: authorization, refund } as const;
  // A caller is answered "pending" or "processing" from the rows just as well, so anything but a crash ends its wait.
  const told = async <Result extends MoneyResult | TooSlowForATask>(input: MoneyInput, work: Promise<Result>): Promise<Result> => {
    const result = await work;
    if (result.state !== 'slow') deps.settled(input.operationId);
    return result;
  };

  return {
    performOperation: (input) => told(input, steps[input.kind].perform(input.operationId)),
    sendOperation: ({ resumed, ...input }) => told(input, steps[input.kind].sendClaimed(input.operationId, resumed || Context.current().info.attempt > 1)),
    lookUpOperation: (input) => told(input, steps[input.kind].lookUp(input.operationId)),
    beginLapse: ({ transactionId }) => beginLapse(operations, transactionId),
  };
}

function stageOf(status: AttemptStatus | OperationStatus): Stage {
  if (status === 'requested') return 'requested';
  if (status === 'claimed') return 'sent';
  return status === 'unknown' ? 'waiting' : 'over';
}
