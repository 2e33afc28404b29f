// The janitor's run, started by a Schedule: one activity that makes up for whatever a crash or an outage left undone.
import { proxyActivities } from '@temporalio/workflow';
import type { SweepActivities } from '../activities/sweep.ts';

// The next run comes in seconds, so a failed one is not worth more than one more try.
const activities = proxyActivities<SweepActivities>({ startToCloseTimeout: '60s', retry: { maximumAttempts: 2 } });

export async function sweep(): Promise<void> {
  await activities.sweepOnce();
}
