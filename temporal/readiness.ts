// Whether Temporal answers and whether somebody works on its queues.
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { taskQueues } from './contract.ts';

const deadlineMs = 2_000;
/** A poll lasts a minute at most, so a living worker was seen within two. */
const pollerSeenWithinMs = 120_000;

/** @throws Error when it does not answer in time */
export async function isTemporalThere(client: Client): Promise<void> {
  await client.withDeadline(Date.now() + deadlineMs, () => client.workflowService.getSystemInfo({}));
}

/** @throws Error naming the queues nobody polls */
export async function arePollersThere(client: Client, queuePrefix: string): Promise<void> {
  const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
  const queues = [
    { queue: taskQueues.payments, type: TASK_QUEUE_TYPE_WORKFLOW },
    { queue: taskQueues.webhooks, type: TASK_QUEUE_TYPE_ACTIVITY },
  ];
  const idle = await Promise.all(
    queues.map(async ({ queue, type }) => {
      const answer = await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflowService.describeTaskQueue({
          namespace: client.options.namespace,
          taskQueue: { name: queuePrefix + queue },
          taskQueueType: type,
        }),
      );
      const seen = (answer.pollers ?? []).map((poller) => Number(poller.lastAccessTime?.seconds ?? 0) * 1000);
      return seen.some((at) => Date.now() - at < pollerSeenWithinMs) ? null : queue;
    }),
  );
  const missing = idle.filter((queue) => queue !== null);
  if (missing.length > 0) throw new Error(`no worker polls ${missing.join(', ')}`);
}
