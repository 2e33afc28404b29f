// Deletes an endpoint: nothing more is sent to it, and what waits for it is cancelled. What was sent stays on record.
import type { Scope } from '../domain/mode.ts';
import { deleteEndpoint as deleteRow } from '../models/webhook-endpoint.ts';
import type { OperationDeps } from './deps.ts';
import { endpointNotFound } from './update-endpoint.ts';

/** @throws DomainError not_found */
export async function deleteEndpoint(deps: Pick<OperationDeps, 'db'>, scope: Scope, id: string): Promise<void> {
  const deleted = await deps.db.transaction((trx) => deleteRow(trx, scope, id));
  if (!deleted) throw endpointNotFound();
}
