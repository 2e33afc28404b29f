// Waits between the attempts of a delivery whose direct attempt did not get its 2xx. The row decides what is due and
// whether it is over; this only wakes the activity, so losing a run loses nothing.
import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhook-delivery.ts';
import { attemptTimeoutMs, leaseMarginMs } from '../domain/delivery-schedule.ts';
import { siblingQueue, type WebhookDeliveryInput } from '../temporal/contract.ts';
import { sleepUntil } from './clock.ts';

const options = {
  // An attempt and the writing of its end; the lease is over by then, so that a repeat can take it.
  startToCloseTimeout: attemptTimeoutMs + 2 * leaseMarginMs,
  // A receiver's failure is a result. What throws is our own: Postgres away, a worker stopped.
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
} as const;

/** @returns the delivery's last status */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<string> {
  const { deliveryId, round } = input;
  // The waiting is done where payments wait; the attempts have a queue of their own, so that a slow receiver delays none.
  const { attemptDelivery } = proxyActivities<WebhookActivities>({ ...options, taskQueue: siblingQueue(workflowInfo().taskQueue, 'webhooks') });
  let nextAttemptAtMs = input.nextAttemptAtMs;
  for (;;) {
    await sleepUntil(nextAttemptAtMs, () => false);
    const result = await attemptDelivery({ deliveryId, round });
    if (result.state === 'delivered') return 'delivered';
    if (result.state === 'ended') return result.status;
    nextAttemptAtMs = result.nextAttemptAtMs;
    if (result.note !== null) setCurrentDetails(`${result.note}; next at ${new Date(nextAttemptAtMs).toISOString()}`);
  }
}
