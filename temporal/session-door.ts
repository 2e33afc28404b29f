// The door to session workflows, by domain verb: start, pay, authenticated, end. It never concludes "not done" from a failed
// call: the same id sent again attaches to what is under way, and the row tells the rest.
import type { Client } from '@temporalio/client';
import { WithStartWorkflowOperation, WorkflowIdConflictPolicy } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes, type Workflow, WorkflowIdReusePolicy } from '@temporalio/common';
import { majorText } from '../domain/currency.ts';
import { DomainError } from '../domain/errors.ts';
import {
  type AttemptResult,
  type CancelCommand,
  type CheckoutSessionInput,
  type EndResult,
  type PayCommand,
  searchAttributes,
  sessionUpdates,
  taskQueues,
  workflowTypes,
} from './contract.ts';
import { classifyFailure } from './failure.ts';

/** What the door needs to know of a session. */
export interface DoorSession {
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly mode: 'test' | 'live';
  readonly amount: number;
  readonly currency: string;
  readonly expiresAt: Date;
  /** When its workflow has something to do next, if that differs from its end. */
  readonly dueAt?: Date | null;
}

export interface SessionDoor {
  /** Never throws while Temporal is down: the sweep starts what was not started. */
  startSession(session: DoorSession): Promise<void>;
  /** Starts the workflow of a session nobody moved in time; it looks at its row first. */
  resumeSession(session: DoorSession): Promise<void>;
  /** `pending`: the answer took too long, the work goes on. */
  pay(session: DoorSession, attemptId: string): Promise<AttemptResult | 'pending'>;
  authenticated(session: DoorSession, attemptId: string): Promise<AttemptResult | 'pending'>;
  /** @throws DomainError service_unavailable when it is not known whether it was done */
  endSession(session: DoorSession, to: 'cancelled' | 'expired'): Promise<EndResult>;
}

export interface SessionDoorDeps {
  readonly client: Client;
  /** Prepended to queue names, so that several installations can share a namespace. */
  readonly queuePrefix: string;
  readonly newId: () => string;
  /** Told of sessions whose workflow surely runs; it may write in batches. */
  readonly onStarted: (sessionId: string) => void;
  readonly onUnavailable: (error: unknown) => void;
}

/** gRPC retries for ever by itself; two seconds more than a charge may take, less than the ten a caller waits. */
const callDeadlineMs = 9_000;
/** Starting is retried by the sweep, so a caller need not wait long for it. */
const startDeadlineMs = 3_000;
const resendTries = 3;
/** After a start that reached nobody, how long the next ones are left to the sweep. */
const awayPauseMs = 5_000;

const keys = {
  merchantId: defineSearchAttributeKey(searchAttributes.merchantId, 'KEYWORD'),
  mode: defineSearchAttributeKey(searchAttributes.mode, 'KEYWORD'),
  paymentStatus: defineSearchAttributeKey(searchAttributes.paymentStatus, 'KEYWORD'),
};

export function createSessionDoor(deps: SessionDoorDeps): SessionDoor {
  const { client } = deps;

  const options = (session: DoorSession, input: CheckoutSessionInput) => ({
    workflowId: session.id,
    taskQueue: deps.queuePrefix + taskQueues.payments,
    args: [input] as [CheckoutSessionInput],
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    staticSummary: `${majorText(session.amount, session.currency)} ${session.currency}, ${session.mode}, ${session.merchantName}`,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: keys.merchantId, value: session.merchantId },
      { key: keys.mode, value: session.mode },
      { key: keys.paymentStatus, value: 'open' },
    ]),
  });

  const inputOf = (session: DoorSession): CheckoutSessionInput => ({ sessionId: session.id, expiresAtMs: session.expiresAt.getTime() });

  /** While Temporal is away each start would hold its caller for seconds; the sweep starts them all when it is back. */
  let awayUntilMs = 0;

  const start = async (session: DoorSession, input: CheckoutSessionInput): Promise<void> => {
    if (input.resume !== true && performance.now() < awayUntilMs) return;
    const wakeAt = (session.dueAt ?? session.expiresAt).getTime();
    const delayMs = input.resume === true ? 0 : Math.max(0, wakeAt - Date.now());
    try {
      await client.withDeadline(Date.now() + startDeadlineMs, () =>
        client.workflow.start(workflowTypes.checkoutSession, { ...options(session, input), ...(delayMs > 0 ? { startDelay: delayMs } : {}) }),
      );
      deps.onStarted(session.id);
    } catch (error) {
      const failure = classifyFailure(error);
      if (failure.kind === 'unavailable' || failure.kind === 'pending') {
        awayUntilMs = performance.now() + awayPauseMs;
        deps.onUnavailable(error);
      }
    }
  };

  /** Sends one update under one id until it is answered, refused or out of time; starts the workflow when it is not there. */
  const update = async <Result>(session: DoorSession, name: string, updateId: string, args: [object]): Promise<Result | 'pending'> => {
    const deadline = Date.now() + callDeadlineMs;
    let absent = false;
    for (let tries = 0; tries < resendTries && Date.now() < deadline; tries++) {
      try {
        return (await client.withDeadline(deadline, async () => {
          if (!absent) {
            return client.workflow.getHandle(session.id).executeUpdate<unknown, [object]>(name, { args, updateId });
          }
          const startWorkflowOperation = new WithStartWorkflowOperation(workflowTypes.checkoutSession, options(session, inputOf(session)));
          return client.workflow.executeUpdateWithStart<Workflow, unknown, [object]>(name, { args, updateId, startWorkflowOperation });
        })) as Result;
      } catch (error) {
        const failure = classifyFailure(error);
        switch (failure.kind) {
          case 'refused':
            throw failure.error;
          case 'absent':
            absent = true;
            break;
          case 'pending':
            break;
          case 'unavailable':
            deps.onUnavailable(failure.cause);
            return 'pending';
        }
      }
    }
    return 'pending';
  };

  return {
    startSession: (session) => start(session, inputOf(session)),
    resumeSession: (session) => start(session, { ...inputOf(session), resume: true }),
    pay: (session, attemptId) => update<AttemptResult>(session, sessionUpdates.pay, attemptId, [{ attemptId } satisfies PayCommand]),
    // Each return from the bank is a question of its own, so each has an id of its own.
    authenticated: (session, attemptId) => update<AttemptResult>(session, sessionUpdates.authenticated, deps.newId(), [{ attemptId }]),
    async endSession(session, to) {
      const result = await update<EndResult>(session, sessionUpdates.cancel, deps.newId(), [{ to } satisfies CancelCommand]);
      if (result === 'pending') {
        throw new DomainError('service_unavailable', 'The session could not be ended just now; try again.', { retryAfterSeconds: 1 });
      }
      return result;
    },
  };
}
