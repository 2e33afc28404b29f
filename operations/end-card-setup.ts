// Ends an open card setup without a card: its time has come, or the customer cancels. No event: nothing was bought.
import { endCardSetupRow } from '../models/card-setup.ts';
import type { CardSetupEnd } from '../temporal/contract.ts';
import type { OperationDeps } from './deps.ts';

/** Expiring waits for `expires_at` on Postgres' clock; cancelling is possible before it only. */
export async function endCardSetup(deps: Pick<OperationDeps, 'db'>, setupId: string, to: 'expired' | 'cancelled'): Promise<CardSetupEnd> {
  const after = await endCardSetupRow(deps.db, setupId, to);
  if (after === null) return { state: 'over', status: 'unknown' };
  if (after.status === 'open') return { state: 'open', expiresAtMs: after.expiresAt.getTime() };
  return { state: 'over', status: after.status };
}
