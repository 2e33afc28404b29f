// One card setup: sleeps until the page expires. Saving and cancelling need no workflow, they move the row; this one finds
// out when it wakes.
import { proxyLocalActivities } from '@temporalio/workflow';
import type { CardSetupActivities } from '../activities/card-setup.ts';
import type { CardSetupInput } from '../temporal/contract.ts';
import { nowMs, sleepUntil } from './clock.ts';

const setups = proxyLocalActivities<CardSetupActivities>({
  startToCloseTimeout: '5s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
});

/** @returns the setup's last status */
export async function cardSetup(input: CardSetupInput): Promise<string> {
  let expiresAtMs = input.expiresAtMs;
  for (;;) {
    await sleepUntil(expiresAtMs, () => false);
    const end = await setups.endDueCardSetup({ setupId: input.setupId });
    if (end.state === 'over') return end.status;
    // Postgres' clock decides; a fifth of a second keeps a small difference between the clocks from spinning.
    expiresAtMs = Math.max(end.expiresAtMs, nowMs() + 200);
  }
}
