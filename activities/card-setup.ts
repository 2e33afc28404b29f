// What the card setup's workflow calls.
import type { OperationDeps } from '../operations/deps.ts';
import { endCardSetup } from '../operations/end-card-setup.ts';
import type { CardSetupEnd } from '../temporal/contract.ts';

export interface CardSetupActivities {
  /** Expires the setup if Postgres' clock says so. */
  endDueCardSetup(input: { setupId: string }): Promise<CardSetupEnd>;
}

export function createCardSetupActivities(operations: Pick<OperationDeps, 'db'>): CardSetupActivities {
  return { endDueCardSetup: ({ setupId }) => endCardSetup(operations, setupId, 'expired') };
}
