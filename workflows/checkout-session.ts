// One checkout session from creation to its end. It sleeps until the session expires and is moved by `pay`, `authenticated`
// and `cancel`. Handlers only queue a command; the loop alone acts, and every act is a compare-and-set on the row, so that a
// second run, a repeated task or a lost memory changes nothing.
import { defineSearchAttributeKey } from '@temporalio/common';
import { condition, defineUpdate, proxyActivities, proxyLocalActivities, setCurrentDetails, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import type { CheckoutSessionActivities } from '../activities/checkout-session.ts';
import { type AttemptResult, type CancelCommand, type CheckoutSessionInput, type EndResult, type PayCommand, searchAttributes, sessionUpdates } from '../temporal/contract.ts';
import { nowMs, release, sleepUntil } from './clock.ts';

export const payUpdate = defineUpdate<AttemptResult, [PayCommand]>(sessionUpdates.pay);
export const authenticatedUpdate = defineUpdate<AttemptResult, [PayCommand]>(sessionUpdates.authenticated);
export const cancelUpdate = defineUpdate<EndResult, [CancelCommand]>(sessionUpdates.cancel);

// A workflow task has ten seconds; a charge takes at most four, its claim and its settling a few milliseconds.
const money = proxyLocalActivities<CheckoutSessionActivities>({
  startToCloseTimeout: '6s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
});
// Look-ups wait for nobody, so they may take longer than a workflow task has.
const gateway = proxyActivities<CheckoutSessionActivities>({
  startToCloseTimeout: '12s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

// Gateways that may take longer than a workflow task has.
const slowGateway = proxyActivities<CheckoutSessionActivities>({
  startToCloseTimeout: '45s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/** As long as a charge may take in the same place. */
const customerLookUpMs = 4_000;

const paymentStatus = defineSearchAttributeKey(searchAttributes.paymentStatus, 'KEYWORD');

type Command =
  | { readonly kind: 'pay' | 'authenticated'; readonly attemptId: string; result?: AttemptResult }
  | { readonly kind: 'cancel'; readonly to: CancelCommand['to']; result?: EndResult };

/** An attempt the session waits for: at the bank, or for a look-up. */
type Waiting = { readonly attemptId: string; readonly result: Extract<AttemptResult, { state: 'requires_action' | 'unknown' }> };

export async function checkoutSession(input: CheckoutSessionInput): Promise<string> {
  const commands: Command[] = [];
  let ended: string | null = null;
  let waiting: Waiting | null = null;
  let expiresAtMs = input.expiresAtMs;

  const enqueue = async <Result>(command: Command): Promise<Result> => {
    commands.push(command);
    await condition(() => command.result !== undefined);
    return command.result as Result;
  };
  setHandler(payUpdate, ({ attemptId }) => enqueue<AttemptResult>({ kind: 'pay', attemptId }));
  setHandler(authenticatedUpdate, ({ attemptId }) => enqueue<AttemptResult>({ kind: 'authenticated', attemptId }));
  setHandler(cancelUpdate, ({ to }) => enqueue<EndResult>({ kind: 'cancel', to }));

  /** Takes over how an attempt stands; null when it is over and the session may go on. */
  const follow = (attemptId: string, result: AttemptResult): void => {
    if (result.state === 'requires_action' || result.state === 'unknown') waiting = { attemptId, result };
    else if (waiting === null || waiting.attemptId === attemptId) waiting = null;
    if (result.state === 'approved') ended = 'completed';
    if (result.state === 'declined') ended = 'failed';
    if (result.state === 'cancelled') ended = 'expired';
  };
  const followEnd = (result: EndResult): void => {
    if (result.state === 'ended' || result.state === 'already') ended = result.status;
    // Postgres' clock decides; a fifth of a second keeps a small difference between the clocks from spinning.
    if (result.state === 'early') expiresAtMs = Math.max(result.expiresAtMs, nowMs() + 200);
    if (result.state === 'in_flight') follow(result.attemptId, result.attempt);
  };

  if (input.resume === true) followEnd(await money.endDueSession({ sessionId: input.sessionId }));
  for (;;) {
    if (ended === null) await sleepUntil(wakeAtMs(waiting, expiresAtMs), () => commands.length > 0);
    const command = commands.shift();
    if (command !== undefined) await obey(command);
    else if (ended === null) await wake();
    if (ended !== null && commands.length === 0) {
      upsertSearchAttributes([{ key: paymentStatus, value: ended }]);
      if (await release(() => commands.length > 0)) return ended;
    }
  }

  async function obey(command: Command): Promise<void> {
    switch (command.kind) {
      case 'pay': {
        const step = await money.payAttempt({ attemptId: command.attemptId });
        const result = step.state === 'slow' ? await slowGateway.sendAttempt({ attemptId: command.attemptId, resumed: step.resumed }) : step;
        follow(command.attemptId, result);
        command.result = result;
        if (result.state !== 'approved') setCurrentDetails(`Last attempt: ${result.state}`);
        // Too late, or no longer open: the row says which.
        if (result.state === 'refused' && ended === null && nowMs() < expiresAtMs) followEnd(await money.endDueSession({ sessionId: input.sessionId }));
        return;
      }
      case 'authenticated': {
        // The customer is waiting in front of the browser, so this look-up is part of the task, and short.
        const result = await money.lookUpAttempt({ attemptId: command.attemptId, withinMs: customerLookUpMs });
        follow(command.attemptId, result);
        command.result = result;
        return;
      }
      case 'cancel': {
        const result = await money.endSessionNow({ sessionId: input.sessionId, to: command.to });
        followEnd(result);
        command.result = result;
        return;
      }
    }
  }

  async function wake(): Promise<void> {
    if (waiting === null) {
      followEnd(await money.endDueSession({ sessionId: input.sessionId }));
      return;
    }
    const { attemptId, result } = waiting;
    const next = result.state === 'requires_action' ? await gateway.giveUpAttempt({ attemptId }) : await gateway.lookUpAttempt({ attemptId });
    follow(attemptId, next);
    if (next.state === 'unknown') setCurrentDetails('The gateway\'s answer is not known yet; it is looked up until it is.');
  }
}

function wakeAtMs(waiting: Waiting | null, expiresAtMs: number): number {
  if (waiting === null) return expiresAtMs;
  return waiting.result.state === 'requires_action' ? waiting.result.cutOffAtMs : waiting.result.nextLookupAtMs;
}
