// The door to the money workflows, by domain verb. A start is idempotent by id; the wait for its result is bounded, the
// work is not.
import type { Client } from '@temporalio/client';
import { WorkflowIdConflictPolicy } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes, WorkflowIdReusePolicy } from '@temporalio/common';
import { majorText } from '../domain/currency.ts';
import { type LapseInput, type LateCaptureInput, lookUpUpdate, type MoneyInput, type MoneyKind, searchAttributes, taskQueues, workflowTypes } from './contract.ts';
import { classifyFailure } from './failure.ts';
import type { SettleSignals } from './settle-signals.ts';

export interface DoorPayment {
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly mode: 'test' | 'live';
  readonly amount: number;
  readonly currency: string;
}

export interface PaymentDoor {
  /**
   * Starts the operation's workflow and waits for it, `waitMs` at most. Resolves either way: the rows tell what became of
   * it. Never throws while Temporal is down: the sweep starts what was not started.
   */
  carryOut(payment: DoorPayment, input: MoneyInput, waitMs: number): Promise<void>;
  /** Starts it without waiting. */
  start(payment: DoorPayment, input: MoneyInput): Promise<void>;
  /** Looks up an operation whose answer is open, now. */
  lookUp(payment: DoorPayment, input: MoneyInput): Promise<void>;
  /** Gives back what was taken for an attempt that was over; does nothing when nothing was taken. @throws when it was not started */
  compensate(payment: DoorPayment, attemptId: string): Promise<void>;
  /** @throws when it was not started: the sweep tries again */
  startLapse(payment: DoorPayment, input: LapseInput): Promise<void>;
}

export interface PaymentDoorDeps {
  readonly client: Client;
  readonly queuePrefix: string;
  /** Given when the client stands on the connection of a worker in this process: starts are eager and settle here. */
  readonly signals: SettleSignals | null;
  readonly onUnavailable: (error: unknown) => void;
}

const startDeadlineMs = 5_000;
/** A charge takes four seconds at most; what was not settled here by then is another process' or waits for a look-up. */
const settledHereMs = 5_000;

const types: Readonly<Record<MoneyKind, string>> = {
  charge: workflowTypes.chargePayment,
  capture: workflowTypes.capturePayment,
  void: workflowTypes.voidPayment,
  refund: workflowTypes.refundPayment,
};

const keys = {
  merchantId: defineSearchAttributeKey(searchAttributes.merchantId, 'KEYWORD'),
  mode: defineSearchAttributeKey(searchAttributes.mode, 'KEYWORD'),
};

export function createPaymentDoor(deps: PaymentDoorDeps): PaymentDoor {
  const { client } = deps;
  const options = (payment: DoorPayment) => ({
    taskQueue: deps.queuePrefix + taskQueues.payments,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    staticSummary: `${majorText(payment.amount, payment.currency)} ${payment.currency}, ${payment.mode}, ${payment.merchantName}`,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: keys.merchantId, value: payment.merchantId },
      { key: keys.mode, value: payment.mode },
    ]),
  });
  const workflowIdOf = (input: MoneyInput): string => (input.kind === 'charge' ? input.transactionId : input.operationId);
  const startOperation = (payment: DoorPayment, input: MoneyInput) =>
    client.withDeadline(Date.now() + startDeadlineMs, () =>
      client.workflow.start(types[input.kind], { ...options(payment), workflowId: workflowIdOf(input), args: [input], ...(deps.signals === null ? {} : { requestEagerStart: true }) }),
    );
  /** A call that failed is one the sweep or the caller's next look at the rows makes up for. */
  const tolerated = async (call: () => Promise<unknown>): Promise<void> => {
    try {
      await call();
    } catch (error) {
      const failure = classifyFailure(error);
      if (failure.kind === 'unavailable') deps.onUnavailable(failure.cause);
    }
  };

  return {
    carryOut: (payment, input, waitMs) =>
      tolerated(async () => {
        const deadline = Date.now() + waitMs;
        const settledHere = deps.signals?.wait(input.operationId, Math.min(waitMs, settledHereMs));
        const handle = await startOperation(payment, input);
        if ((await settledHere) === true) return;
        // A workflow that waits for a look-up does not end soon; the caller's limit ends the wait instead.
        await client.withDeadline(deadline, () => handle.result());
      }),
    start: (payment, input) => tolerated(() => startOperation(payment, input)),
    lookUp: (payment, input) =>
      tolerated(async () => {
        await startOperation(payment, input);
        await client.withDeadline(Date.now() + startDeadlineMs, () => client.workflow.getHandle(workflowIdOf(input)).executeUpdate(lookUpUpdate, { args: [] }));
      }),
    compensate: (payment, attemptId) =>
      client.withDeadline(Date.now() + startDeadlineMs, async () => {
        await client.workflow.start(workflowTypes.compensateCapture, { ...options(payment), workflowId: `${attemptId}:late`, args: [{ attemptId } satisfies LateCaptureInput] });
      }),
    startLapse: (payment, input) =>
      client.withDeadline(Date.now() + startDeadlineMs, async () => {
        const delayMs = Math.max(0, input.lapsesAtMs - Date.now());
        await client.workflow.start(workflowTypes.lapseAuthorization, {
          ...options(payment),
          workflowId: `${input.transactionId}:lapse`,
          args: [input],
          ...(delayMs > 0 ? { startDelay: delayMs } : {}),
        });
      }),
  };
}
