// Gives back money that a gateway took for a payment that was already over without it. The gateway's key makes it happen
// once; Temporal repeats this until it has.
import { randomBytes } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { makeReceiptNumber } from '../domain/receipt-number.ts';
import { readEndedAttempt, recordCompensation } from '../models/late-capture.ts';
import type { PaymentActivityDeps } from './payment.ts';

export interface LateCaptureActivities {
  /** @returns `nothing` when the gateway has no money of it. @throws while the gateway has not given it back */
  compensateCapture(input: { attemptId: string }): Promise<'nothing' | 'compensated'>;
}

export function createLateCaptureActivities(deps: Pick<PaymentActivityDeps, 'operations' | 'gateways' | 'alert' | 'signal'>): LateCaptureActivities {
  const { db, newId } = deps.operations;
  return {
    async compensateCapture({ attemptId }) {
      const ended = await readEndedAttempt(db, attemptId);
      if (ended === null) return 'nothing';
      const gateway = deps.gateways.open(ended.gateway);
      if (gateway === null) throw new Error(`the gateway ${ended.gateway} is not configured`);
      const call = { merchantId: ended.merchantId, mode: ended.mode, signal: deps.signal };
      const found = await gateway.lookupCharge({ key: ended.gatewayKey, reference: ended.id }, call);
      if (found.kind === 'unknown' || found.kind === 'unreached') throw new Error('the gateway could not be asked');
      if (found.kind !== 'captured' && found.kind !== 'authorized') return 'nothing';
      if (Context.current().info.attempt === 1) deps.alert('late_capture', { payment: ended.id, gateway: ended.gateway });

      const request = { key: `${ended.gatewayKey}:late`, reference: ended.id, gatewayTransactionId: found.gatewayTransactionId };
      const { amountMinor, currency } = found;
      const outcome = found.kind === 'authorized' ? await gateway.voidCharge(request, call) : await gateway.refundCharge({ ...request, amountMinor, currency }, call);
      if (outcome.kind !== 'succeeded') throw new Error(`the gateway has not given the money back yet: ${outcome.kind}`);
      await recordCompensation(db, {
        id: newId('refund'),
        transactionId: ended.id,
        amountMinor,
        currency,
        receiptNumber: makeReceiptNumber(ended.readAt, randomBytes(5)),
        gatewayRefundId: outcome.gatewayOperationId,
        gatewayKey: request.key,
      });
      return 'compensated';
    },
  };
}
