// One attempt of a delivery that waits, for the workflow that waits with it: lease, POST, mark. Whatever the receiver did
// is a result; only our own faults throw, and Temporal repeats those.
import { attemptTimeoutMs, maxAttempts } from '../domain/delivery-schedule.ts';
import type { Database } from '../models/database.ts';
import { leaseDelivery, readDeliveryState } from '../models/delivery.ts';
import type { WebhookSender } from '../webhooks/sender.ts';

export interface AttemptDeliveryInput {
  readonly deliveryId: string;
  readonly round: number;
}

export type AttemptDeliveryResult =
  | { readonly state: 'delivered' }
  /** `nextAttemptAtMs` in UTC milliseconds; `note` tells an operator how the attempt went, null when none was made. */
  | { readonly state: 'retry'; readonly nextAttemptAtMs: number; readonly note: string | null }
  /** It is over some other way, or another round has begun. */
  | { readonly state: 'ended'; readonly status: string };

export interface WebhookActivities {
  attemptDelivery(input: AttemptDeliveryInput): Promise<AttemptDeliveryResult>;
}

export interface WebhookActivityDeps {
  readonly db: Database;
  readonly sender: Pick<WebhookSender, 'enter' | 'attempt'>;
  /** UTC milliseconds. */
  readonly nowMs?: () => number;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** How soon to come again when the endpoint has enough attempts in flight; an attempt at a slow one takes up to 15 s. */
const comeAgainMs = { healthy: 2_000, slow: 15_000 } as const;
/** The end of somebody's lease plus the difference there may be between clocks. */
const afterLeaseMs = 500;

export function createWebhookActivities(deps: WebhookActivityDeps): WebhookActivities {
  const nowMs = deps.nowMs ?? Date.now;
  const random = deps.random ?? Math.random;
  const { db, sender } = deps;

  return {
    async attemptDelivery({ deliveryId, round }) {
      const state = await readDeliveryState(db, deliveryId);
      if (state === null) return { state: 'ended', status: 'removed' };
      if (state.status === 'delivered') return { state: 'delivered' };
      if (state.round !== round || !isOpen(state.status)) return { state: 'ended', status: state.status };

      const leave = sender.enter(state.endpointId, state.slow);
      // Spread over one to three waits, so that those who are turned away do not come back together.
      if (leave === null) return { state: 'retry', nextAttemptAtMs: nowMs() + comeAgainMs[state.slow ? 'slow' : 'healthy'] * (1 + 2 * random()), note: null };
      let slow = state.slow;
      try {
        const leased = await leaseDelivery(db, deliveryId, round, attemptTimeoutMs);
        if (leased === null) return await afterLostLease(deliveryId, round);
        const end = await sender.attempt(leased);
        slow = end.slow;
        if (end.marked === null) return await afterLostLease(deliveryId, round);
        const note = `${leased.eventType} to ${leased.endpointId}: attempt ${leased.attempt} of ${maxAttempts} ${end.statusCode === null ? 'got no answer' : `was answered ${end.statusCode}`}`;
        return resultOf(end.marked.status, end.marked.nextAttemptAtMs, note);
      } finally {
        leave(slow);
      }
    },
  };

  async function afterLostLease(deliveryId: string, round: number): Promise<AttemptDeliveryResult> {
    const state = await readDeliveryState(db, deliveryId);
    if (state === null) return { state: 'ended', status: 'removed' };
    if (state.round !== round) return { state: 'ended', status: state.status };
    return resultOf(state.status, Math.max(state.nextAtMs, nowMs()) + afterLeaseMs, null);
  }
}

function resultOf(status: string, nextAttemptAtMs: number, note: string | null): AttemptDeliveryResult {
  if (status === 'delivered') return { state: 'delivered' };
  return isOpen(status) ? { state: 'retry', nextAttemptAtMs: Math.round(nextAttemptAtMs), note } : { state: 'ended', status };
}

function isOpen(status: string): boolean {
  return status === 'pending' || status === 'sending' || status === 'retrying';
}
