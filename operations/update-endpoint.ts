// Changes an endpoint: address, description, events, on or off. A new address is judged like that of a new endpoint.
import type { Knex } from 'knex';
import { DomainError } from '../domain/errors.ts';
import type { Scope } from '../domain/mode.ts';
import { changeEndpoint, type EndpointChanges, findEndpoint, type WebhookEndpoint } from '../models/webhook-endpoint.ts';
import type { EndpointDeps } from './create-endpoint.ts';

/**
 * Judges a new address; no transaction may be open. An endpoint that is not the caller's is told before its address is.
 * @throws DomainError not_found, target_url_not_allowed
 */
export async function prepareChanges(deps: EndpointDeps, scope: Scope, id: string, changes: EndpointChanges): Promise<EndpointChanges> {
  if ((await findEndpoint(deps.db.knex, scope, id)) === null) throw endpointNotFound();
  const url = changes.url === undefined ? undefined : await deps.checkTarget(changes.url, scope.mode);
  const events = changes.events === undefined ? undefined : changes.events.includes('*') ? (['*'] as const) : [...new Set(changes.events)];
  return { ...changes, url, events };
}

/** @throws DomainError not_found */
export async function updateEndpoint(trx: Knex.Transaction, scope: Scope, id: string, changes: EndpointChanges): Promise<WebhookEndpoint> {
  const row = await changeEndpoint(trx, scope, id, changes);
  if (row === null) throw endpointNotFound();
  return row;
}

export function endpointNotFound(): DomainError {
  return new DomainError('not_found', 'There is no such webhook endpoint.');
}
