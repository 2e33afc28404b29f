// A Temporal namespace per stack on the shared server: own workflow ids, own task queues, own Schedule. Costs 10 ms.
import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { eventually } from './eventually.ts';

export interface TestNamespace {
  readonly address: string;
  readonly namespace: string;
}

export async function createNamespace(): Promise<TestNamespace> {
  const address = inject('temporalAddress');
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address });
  try {
    // Seconds as a protobuf duration; one day is the shortest retention.
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: 86_400 as never } });
    await eventually(() => connection.withDeadline(Date.now() + 2_000, () => connection.workflowService.describeNamespace({ namespace })));
    return { address, namespace };
  } finally {
    await connection.close();
  }
}
