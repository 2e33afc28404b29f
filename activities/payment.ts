// What the money workflows call: one step of one operation (claim, gateway, settle), its look-up, and the beginning of a
// lapse. Run again after a crash a step looks up before it sends.
import type { LookupOutcome } from '../domain/gateway-outcome.ts';
import type { Gateway, GatewayCall, OperationOutcome } from '../gateways/gateway.ts';
import type { GatewayRegistry } from '../gateways/registry.ts';
import { type ChargeContext, claimDirectCharge, readDirectCharge } from '../models/direct-charge.ts';
import { markOperationSentAgain } from '../models/gateway-call.ts';
import { claimOperation, type OperationContext, readOperation } from '../models/payment-operation.ts';
import type { PaymentRow } from '../models/payment-row.ts';
import { claimRefund, readRefund, type RefundContext } from '../models/refund-moves.ts';
import { beginLapse, type BegunLapse } from '../operations/begin-lapse.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { clockOf, type MoneyFacts } from '../operations/money-facts.ts';
import { chargeResult, settleCharge } from '../operations/settle-charge.ts';
import { operationResult, settleOperation } from '../operations/settle-operation.ts';
import { refundResult, settleRefund } from '../operations/settle-refund.ts';
import { unseal } from '../platform/seal.ts';
import type { MoneyInput, MoneyResult } from '../temporal/contract.ts';
import type { GatewayCallRecord } from './checkout-session.ts';

export interface PaymentActivities {
  /** Claim, gateway, settle. */
  performOperation(input: MoneyInput): Promise<MoneyResult>;
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

  const timed = async <Outcome extends { kind: string }>(read: Read, kind: string, call: () => Promise<Outcome>): Promise<Outcome> => {
    const createdAt = clockOf(read);
    const begun = performance.now();
    const outcome = await call();
    const { payment } = read;
    deps.recordGatewayCall({
      merchantId: payment.merchantId,
      mode: payment.mode,
      transactionId: payment.id,
      gateway: payment.gateway,
      kind,
      code: 'declineCode' in outcome ? `${outcome.kind}:${String(outcome.declineCode)}` : outcome.kind,
      durationMs: Math.round(performance.now() - begun),
      createdAt,
    });
    return outcome;
  };

  const facts = (read: Read, gateway: Gateway, sentAt: Date | null, lookups: number, mayHaveBeenSent: boolean): MoneyFacts => ({
    lookups,
    mayHaveBeenSent,
    notFoundIsFinal: sentAt !== null && clockOf(read).getTime() - sentAt.getTime() >= gateway.capabilities.notFoundFinalAfterMs,
  });
  /** A look-up that got an answer uses a rung of the ladder, one that reached nobody does not. */
  const rungs = (lookups: number, outcome: { kind: string }): number => lookups + (outcome.kind === 'unreached' || outcome.kind === 'unknown' ? 0 : 1);

  const flagMismatch = (payment: PaymentRow, asked: number, outcome: { kind: string; amountMinor?: number; currency?: string }): void => {
    if (outcome.amountMinor === undefined || (outcome.amountMinor === asked && outcome.currency === payment.currency)) return;
    deps.alert('gateway_amount_mismatch', { payment: payment.id, asked: `${asked} ${payment.currency}`, answered: `${outcome.amountMinor} ${outcome.currency}` });
  };

  const charges = {
    async send(context: ChargeContext): Promise<LookupOutcome> {
      const { attempt, payment } = context;
      const { gateway, call } = gatewayOf(payment);
      const request = { key: attempt.gatewayKey, reference: payment.id };
      const outcome = await timed(context, 'charge', () =>
        gateway.charge(
          {
            ...request,
            cardReference: unseal(operations.keyRing, 'gateway-token', attempt.tokenId, attempt.sealedCardReference),
            amountMinor: payment.amount,
            currency: payment.currency,
            capture: payment.capture,
            initiatedBy: 'merchant',
            returnUrl: null,
          },
          call,
        ),
      );
      // Nobody is there to answer a challenge: it is given up at the gateway, so that the customer's own attempt is the only one.
      return outcome.kind === 'requires_action' ? timed(context, 'cancel', () => gateway.cancelCharge(request, call)) : outcome;
    },
    async lookUp(context: ChargeContext): Promise<LookupOutcome> {
      const { attempt, payment } = context;
      const { gateway, call } = gatewayOf(payment);
      const request = { key: attempt.gatewayKey, reference: payment.id };
      const outcome = await timed(context, 'lookup', () => gateway.lookupCharge(request, call));
      return outcome.kind === 'requires_action' ? timed(context, 'cancel', () => gateway.cancelCharge(request, call)) : outcome;
    },
    settle(context: ChargeContext, outcome: LookupOutcome, lookups: number, mayHaveBeenSent: boolean): Promise<MoneyResult> {
      const { gateway } = gatewayOf(context.payment);
      if (outcome.kind === 'captured' || outcome.kind === 'authorized') flagMismatch(context.payment, context.payment.amount, outcome);
      return settleCharge(operations, context, outcome, facts(context, gateway, context.attempt.sentAt, lookups, mayHaveBeenSent));
    },
    async perform(id: string): Promise<MoneyResult> {
      const { claimed, context } = await claimDirectCharge(db, id);
      if (claimed) return this.settle(context, await this.send(context), 0, false);
      if (context.attempt.status !== 'claimed') return chargeResult(context);
      const found = await this.lookUp(context);
      if (found.kind !== 'not_found') return this.settle(context, found, rungs(context.attempt.lookups, found), true);
      await markOperationSentAgain(db, 'charge', id);
      return this.settle(context, await this.send(context), context.attempt.lookups, true);
    },
    async look(id: string): Promise<MoneyResult> {
      const context = await readDirectCharge(db, id);
      if (context.attempt.status === 'requested') return this.perform(id);
      if (context.attempt.status !== 'claimed' && context.attempt.status !== 'unknown') return chargeResult(context);
      const outcome = await this.lookUp(context);
      return this.settle(context, outcome, rungs(context.attempt.lookups, outcome), true);
    },
  };

  const operationsOf = {
    async send(context: OperationContext): Promise<OperationOutcome> {
      const { operation, payment } = context;
      const { gateway, call } = gatewayOf(payment);
      const request = { key: operation.gatewayKey, reference: payment.id, gatewayTransactionId: payment.gatewayTransactionId ?? '' };
      return timed(context, operation.kind, () =>
        operation.kind === 'capture' ? gateway.captureCharge({ ...request, amountMinor: operation.amount, currency: payment.currency }, call) : gateway.voidCharge(request, call),
      );
    },
    lookUp(context: OperationContext) {
      const { gateway, call } = gatewayOf(context.payment);
      return timed(context, 'lookup', () => gateway.lookupOperation({ key: context.operation.gatewayKey, reference: context.payment.id }, call));
    },
    settle(context: OperationContext, outcome: OperationOutcome | { kind: 'not_found' }, lookups: number, mayHaveBeenSent: boolean): Promise<MoneyResult> {
      const { gateway } = gatewayOf(context.payment);
      if (context.operation.kind === 'capture' && outcome.kind === 'succeeded') flagMismatch(context.payment, context.operation.amount, outcome);
      return settleOperation(operations, context, outcome, facts(context, gateway, context.operation.sentAt, lookups, mayHaveBeenSent));
    },
    async perform(id: string): Promise<MoneyResult> {
      const { claimed, context } = await claimOperation(db, id);
      if (claimed) return this.settle(context, await this.send(context), 0, false);
      if (context.operation.status !== 'claimed') return operationResult(context);
      const found = await this.lookUp(context);
      if (found.kind !== 'not_found') return this.settle(context, found, rungs(context.operation.lookups, found), true);
      await markOperationSentAgain(db, context.operation.kind, id);
      return this.settle(context, await this.send(context), context.operation.lookups, true);
    },
    async look(id: string): Promise<MoneyResult> {
      const context = await readOperation(db, id);
      if (context.operation.status === 'requested') return this.perform(id);
      if (context.operation.status !== 'claimed' && context.operation.status !== 'unknown') return operationResult(context);
      const outcome = await this.lookUp(context);
      return this.settle(context, outcome, rungs(context.operation.lookups, outcome), true);
    },
  };

  const refunds = {
    send(context: RefundContext): Promise<OperationOutcome> {
      const { refund, payment } = context;
      const { gateway, call } = gatewayOf(payment);
      return timed(context, 'refund', () =>
        gateway.refundCharge(
          { key: refund.gatewayKey, reference: payment.id, gatewayTransactionId: payment.gatewayTransactionId ?? '', amountMinor: refund.amount, currency: refund.currency },
          call,
        ),
      );
    },
    lookUp(context: RefundContext) {
      const { gateway, call } = gatewayOf(context.payment);
      return timed(context, 'lookup', () => gateway.lookupOperation({ key: context.refund.gatewayKey, reference: context.payment.id }, call));
    },
    settle(context: RefundContext, outcome: OperationOutcome | { kind: 'not_found' }, lookups: number, mayHaveBeenSent: boolean): Promise<MoneyResult> {
      const { gateway } = gatewayOf(context.payment);
      if (outcome.kind === 'succeeded') flagMismatch(context.payment, context.refund.amount, outcome);
      return settleRefund(operations, context, outcome, facts(context, gateway, context.refund.sentAt, lookups, mayHaveBeenSent));
    },
    async perform(id: string): Promise<MoneyResult> {
      const { claimed, context } = await claimRefund(db, id);
      if (claimed) return this.settle(context, await this.send(context), 0, false);
      if (context.refund.step !== 'claimed') return refundResult(context);
      const found = await this.lookUp(context);
      if (found.kind !== 'not_found') return this.settle(context, found, rungs(context.refund.lookups, found), true);
      await markOperationSentAgain(db, 'refund', id);
      return this.settle(context, await this.send(context), context.refund.lookups, true);
    },
    async look(id: string): Promise<MoneyResult> {
      const context = await readRefund(db, id);
      if (context.refund.step === 'requested') return this.perform(id);
      if (context.refund.step === 'settled') return refundResult(context);
      const outcome = await this.lookUp(context);
      return this.settle(context, outcome, rungs(context.refund.lookups, outcome), true);
    },
  };

  const steps = { charge: charges, capture: operationsOf, void: operationsOf, refund: refunds } as const;
  // A caller is answered "pending" or "processing" from the rows just as well, so anything but a crash ends its wait.
  const told = async (input: MoneyInput, work: Promise<MoneyResult>): Promise<MoneyResult> => {
    const result = await work;
    deps.settled(input.operationId);
    return result;
  };

  return {
    performOperation: (input) => told(input, steps[input.kind].perform(input.operationId)),
    lookUpOperation: (input) => told(input, steps[input.kind].look(input.operationId)),
    beginLapse: ({ transactionId }) => beginLapse(operations, transactionId),
  };
}
