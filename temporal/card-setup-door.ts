// The door to card setup workflows: there is only one thing to ask of them, to be there when the page expires.
import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { type CardSetupInput, searchAttributes, taskQueues, workflowTypes } from './contract.ts';
import { classifyFailure } from './failure.ts';

export interface DoorCardSetup {
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly mode: 'test' | 'live';
  readonly expiresAt: Date;
}

export interface CardSetupDoor {
  /** Starts the workflow, asleep until the setup's end. Never throws while Temporal is down: the sweep starts what was not started. */
  startCardSetup(setup: DoorCardSetup): Promise<void>;
}

export interface CardSetupDoorDeps {
  readonly client: Client;
  readonly queuePrefix: string;
  /** Told of setups whose workflow surely runs; it may write in batches. */
  readonly onStarted: (setupId: string) => void;
  readonly onUnavailable: (error: unknown) => void;
}

/** Starting is made up for by the sweep, so a caller need not wait long for it. */
const startDeadlineMs = 3_000;

const keys = {
  merchantId: defineSearchAttributeKey(searchAttributes.merchantId, 'KEYWORD'),
  mode: defineSearchAttributeKey(searchAttributes.mode, 'KEYWORD'),
};

export function createCardSetupDoor(deps: CardSetupDoorDeps): CardSetupDoor {
  return {
    async startCardSetup(setup) {
      const delayMs = Math.max(0, setup.expiresAt.getTime() - Date.now());
      const input: CardSetupInput = { setupId: setup.id, expiresAtMs: setup.expiresAt.getTime() };
      try {
        await deps.client.withDeadline(Date.now() + startDeadlineMs, () =>
          deps.client.workflow.start(workflowTypes.cardSetup, {
            workflowId: setup.id,
            taskQueue: deps.queuePrefix + taskQueues.payments,
            args: [input],
            workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
            workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
            staticSummary: `card setup, ${setup.mode}, ${setup.merchantName}`,
            typedSearchAttributes: new TypedSearchAttributes([
              { key: keys.merchantId, value: setup.merchantId },
              { key: keys.mode, value: setup.mode },
            ]),
            ...(delayMs > 0 ? { startDelay: delayMs } : {}),
          }),
        );
        deps.onStarted(setup.id);
      } catch (error) {
        const failure = classifyFailure(error);
        if (failure.kind === 'unavailable' || failure.kind === 'pending') deps.onUnavailable(error);
      }
    },
  };
}
