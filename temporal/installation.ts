// What a Temporal namespace needs before the service can use it: search attributes and the sweep's Schedule. Done at boot
// and again whenever the namespace turns out to be another one (a new or emptied server).
import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import proto from '@temporalio/proto';
import { searchAttributes, sweepEverySeconds, sweepScheduleId, taskQueues, workflowTypes } from './contract.ts';

const deadlineMs = 10_000;
const { IndexedValueType } = proto.temporal.api.enums.v1;
const wanted: Readonly<Record<string, number>> = {
  [searchAttributes.merchantId]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  [searchAttributes.mode]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  [searchAttributes.paymentStatus]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  [searchAttributes.nextRunAt]: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
};

/** The namespace's own id: it changes when the server was replaced or emptied. */
export async function readNamespaceId(client: Client): Promise<string> {
  const answer = await client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflowService.describeNamespace({ namespace: client.options.namespace }),
  );
  const id = answer.namespaceInfo?.id;
  if (!id) throw new Error('Temporal did not tell the id of the namespace');
  return id;
}

/** @throws Error when a search attribute exists with another type: it would silently stay as it is */
export async function installNamespace(client: Client, queuePrefix: string): Promise<void> {
  await client.withDeadline(Date.now() + deadlineMs, async () => {
    await addSearchAttributes(client);
    await addSchedule(client, queuePrefix);
  });
}

async function addSearchAttributes(client: Client): Promise<void> {
  const { namespace } = client.options;
  const { operatorService } = client.connection as unknown as { operatorService: proto.temporal.api.operatorservice.v1.OperatorService };
  const known = (await operatorService.listSearchAttributes({ namespace })).customAttributes ?? {};
  const missing = Object.fromEntries(Object.entries(wanted).filter(([name]) => known[name] === undefined));
  for (const [name, type] of Object.entries(wanted)) {
    if (known[name] !== undefined && known[name] !== type) throw new Error(`The search attribute ${name} exists with another type; remove it or use another namespace.`);
  }
  if (Object.keys(missing).length > 0) await operatorService.addSearchAttributes({ namespace, searchAttributes: missing });
}

async function addSchedule(client: Client, queuePrefix: string): Promise<void> {
  const spec = { intervals: [{ every: `${sweepEverySeconds}s` as const }] };
  const action = { type: 'startWorkflow' as const, workflowType: workflowTypes.sweep, taskQueue: queuePrefix + taskQueues.payments, args: [] };
  const policies = { overlap: ScheduleOverlapPolicy.SKIP };
  try {
    await client.schedule.create({ scheduleId: queuePrefix + sweepScheduleId, spec, action: { ...action, workflowId: `${queuePrefix}sweep` }, policies });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule.getHandle(queuePrefix + sweepScheduleId).update((previous) => ({ ...previous, spec, policies, action: { ...action, workflowId: `${queuePrefix}sweep` } }));
  }
}
