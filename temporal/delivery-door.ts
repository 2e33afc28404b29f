// Starts the durable retry of a webhook delivery. A delivery whose workflow could not be started is made up by the sweep.
import type { Client } from '@temporalio/client';
import { WorkflowIdConflictPolicy } from '@temporalio/client';
import { WorkflowIdReusePolicy } from '@temporalio/common';
import { taskQueues, type WebhookDeliveryInput, workflowTypes } from './contract.ts';

const startDeadlineMs = 3_000;

export interface DeliveryDoorDeps {
  readonly client: Client;
  readonly queuePrefix: string;
}

/** @returns a function that rejects when the workflow could not be started; the sweep then makes it up */
export function createDeliveryDoor(deps: DeliveryDoorDeps): (input: WebhookDeliveryInput) => Promise<void> {
  return async (input) => {
    const delayMs = Math.max(0, input.nextAttemptAtMs - Date.now());
    await deps.client.withDeadline(Date.now() + startDeadlineMs, () =>
      deps.client.workflow.start(workflowTypes.webhookDelivery, {
        workflowId: input.round === 1 ? input.deliveryId : `${input.deliveryId}:${input.round}`,
        taskQueue: deps.queuePrefix + taskQueues.payments,
        args: [input],
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        ...(delayMs > 0 ? { startDelay: delayMs } : {}),
      }),
    );
  };
}
