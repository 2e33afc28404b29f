// Starts the durable retry of a webhook delivery. A delivery whose workflow could not be started is made up by the sweep.
import type { Client } from '@temporalio/client';
import { WorkflowIdConflictPolicy } from '@temporalio/client';
import { WorkflowIdReusePolicy } from '@temporalio/common';
import { taskQueues, type WebhookDeliveryInput, workflowTypes } from './contract.ts';
import { classifyFailure } from './failure.ts';

const startDeadlineMs = 3_000;

export interface DeliveryDoorDeps {
  readonly client: Client;
  readonly queuePrefix: string;
  readonly onStarted: (deliveryId: string) => void;
  readonly onUnavailable: (error: unknown) => void;
}

/** @returns a function that never throws while Temporal is down */
export function createDeliveryDoor(deps: DeliveryDoorDeps): (input: WebhookDeliveryInput) => Promise<void> {
  return async (input) => {
    const delayMs = Math.max(0, input.nextAttemptAtMs - Date.now());
    try {
      await deps.client.withDeadline(Date.now() + startDeadlineMs, () =>
        deps.client.workflow.start(workflowTypes.webhookDelivery, {
          workflowId: input.round === 1 ? input.deliveryId : `${input.deliveryId}:${input.round}`,
          taskQueue: deps.queuePrefix + taskQueues.webhooks,
          args: [input],
          workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
          workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
          ...(delayMs > 0 ? { startDelay: delayMs } : {}),
        }),
      );
      deps.onStarted(input.deliveryId);
    } catch (error) {
      const failure = classifyFailure(error);
      if (failure.kind === 'unavailable') deps.onUnavailable(failure.cause);
    }
  };
}
