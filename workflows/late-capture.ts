// A capture that turned up after its payment was over: repeated until the money is back.
import { proxyActivities } from '@temporalio/workflow';
import type { LateCaptureActivities } from '../activities/late-capture.ts';
import type { LateCaptureInput } from '../temporal/contract.ts';

const activities = proxyActivities<LateCaptureActivities>({
  startToCloseTimeout: '60s',
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '1h' },
});

export async function compensateCapture(input: LateCaptureInput): Promise<string> {
  return activities.compensateCapture({ attemptId: input.attemptId });
}
