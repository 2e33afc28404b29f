// The operator's last resort: settles a payment whose gateway never answered, by what a person found out there. It goes
// the way every outcome goes, so events, deliveries and stored answers are the same.
import { DomainError, validationError } from '../domain/errors.ts';
import { readDirectCharge } from '../models/direct-charge.ts';
import { readAttemptContext } from '../models/payment-attempt.ts';
import { readOperation } from '../models/payment-operation.ts';
import { findUnsettledPayment, type UnsettledPayment } from '../models/unsettled-payment.ts';
import type { OperationDeps } from './deps.ts';
import { settleAttempt } from './settle-attempt.ts';
import { settleCharge } from './settle-charge.ts';
import { settleOperation } from './settle-operation.ts';

/** `captured`: what was open went through at the gateway (an authorisation only is then `authorized`). `failed`: it never happened. */
export const resolvableOutcomes = ['captured', 'failed', 'voided'] as const;
export type ResolvedOutcome = (typeof resolvableOutcomes)[number];

export interface ResolvePaymentInput {
  readonly paymentId: string;
  readonly outcome: ResolvedOutcome;
  /** For people who read the audit log later. */
  readonly reason: string;
  /** The gateway's own id of the payment, where the operator knows it. */
  readonly gatewayTransactionId: string | null;
}

export interface ResolvePaymentDeps {
  readonly operations: OperationDeps;
  /** Milliseconds after sending from which a gateway's "not found" is final: before that nobody can know. */
  readonly lookupWindowMs: (gateway: string) => number;
  /** Written before anything is changed: what was done by hand must be found again. */
  readonly audit: (entry: Readonly<Record<string, string>>) => void;
}

export interface ResolvedPayment {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: 'test' | 'live';
  readonly previousStatus: string;
  readonly status: string;
}

/** @throws DomainError not_found, validation_failed when the payment is not processing or the gateway may still answer */
export async function resolvePayment(deps: ResolvePaymentDeps, input: ResolvePaymentInput): Promise<ResolvedPayment> {
  const { db } = deps.operations;
  const payment = await findUnsettledPayment(db, input.paymentId);
  if (payment === null) throw new DomainError('not_found', `There is no payment ${input.paymentId}.`);
  const open = check(deps, payment, input);
  deps.audit({ payment: payment.id, merchant: payment.merchantId, mode: payment.mode, open: open.kind, outcome: input.outcome, reason: input.reason });
  await settle(deps.operations, payment, open, input);
  const after = await findUnsettledPayment(db, payment.id);
  return { id: payment.id, merchantId: payment.merchantId, mode: payment.mode, previousStatus: payment.status, status: after?.status ?? payment.status };
}

type Open = NonNullable<UnsettledPayment['open']>;

function check(deps: ResolvePaymentDeps, { id, status, gateway, open }: UnsettledPayment, { outcome }: ResolvePaymentInput): Open {
  const refuse = (path: string, message: string): DomainError => validationError([{ path, code: 'invalid_value', message }]);
  if (status !== 'processing' || open === null) throw refuse('payment', `${id} is ${status}: only a processing payment whose outcome is unknown can be resolved.`);
  const windowMs = deps.lookupWindowMs(gateway);
  if (open.ageMs < windowMs) {
    const seconds = Math.ceil((windowMs - open.ageMs) / 1000);
    throw refuse('payment', `${gateway} may still answer for ${id}: it is looked up by itself; resolve it in ${seconds} s at the earliest.`);
  }
  const possible = open.kind === 'void' ? ['voided', 'failed'] : ['captured', 'failed'];
  if (!possible.includes(outcome)) throw refuse('outcome', `A ${open.kind} is open: the outcome is ${possible.join(' or ')}.`);
  return open;
}

async function settle(operations: OperationDeps, payment: UnsettledPayment, open: Open, input: ResolvePaymentInput): Promise<void> {
  const { db } = operations;
  const facts = { lookups: open.lookups, notFoundIsFinal: true, mayHaveBeenSent: true };
  const failed = input.outcome === 'failed';
  const gatewayTransactionId = input.gatewayTransactionId ?? payment.gatewayTransactionId ?? `resolved:${payment.id}`;
  const approved = (asked: { amount: number; currency: string; capture: boolean }) =>
    ({ kind: asked.capture ? 'captured' : 'authorized', gatewayTransactionId, amountMinor: asked.amount, currency: asked.currency, reusableReference: null }) as const;
  if (open.kind !== 'charge') {
    const context = await readOperation(db, open.operationId);
    const amountMinor = context.operation.amount;
    await settleOperation(
      operations,
      context,
      failed ? { kind: 'not_found' } : { kind: 'succeeded', gatewayOperationId: gatewayTransactionId, amountMinor, currency: context.payment.currency },
      facts,
    );
  } else if (open.sessionId !== null) {
    const context = await readAttemptContext(db, open.operationId);
    await settleAttempt(operations, context, failed ? { kind: 'not_found' } : approved(context.session), facts);
  } else {
    const context = await readDirectCharge(db, open.operationId);
    await settleCharge(operations, context, failed ? { kind: 'not_found' } : approved(context.payment), facts);
  }
}
