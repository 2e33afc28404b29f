// Registers an endpoint for webhooks. The address is judged before the transaction, since names have to be resolved; its
// secret is made here and leaves with the answer. Specification: Events.
import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { EventName } from '../domain/event.ts';
import type { Scope } from '../domain/mode.ts';
import { insertEndpoint, type WebhookEndpoint } from '../models/webhook-endpoint.ts';
import { makeSecret, sealSecret, secretBytes } from '../webhooks/secret.ts';
import type { OperationDeps } from './deps.ts';

export type EndpointDeps = Pick<OperationDeps, 'db' | 'keyRing' | 'newId' | 'checkTarget'>;

export interface CreateEndpointInput {
  readonly url: string;
  readonly description: string | null;
  readonly events: readonly (EventName | '*')[];
  readonly enabled: boolean;
}

/** An endpoint that is ready to be written, its address judged. */
export interface PreparedEndpoint extends CreateEndpointInput {
  readonly id: string;
  readonly secret: string;
}

/** No transaction may be open: names are resolved here. @throws DomainError target_url_not_allowed */
export async function prepareEndpoint(deps: EndpointDeps, scope: Scope, input: CreateEndpointInput): Promise<PreparedEndpoint> {
  const url = await deps.checkTarget(input.url, scope.mode);
  return { ...input, url, id: deps.newId('endpoint'), secret: makeSecret(randomBytes(secretBytes)) };
}

/** @param knex a transaction, or `db.knex` */
export async function writeEndpoint(deps: EndpointDeps, knex: Knex, scope: Scope, prepared: PreparedEndpoint): Promise<WebhookEndpoint> {
  const { id, secret, url, description, enabled } = prepared;
  const events = prepared.events.includes('*') ? (['*'] as const) : [...new Set(prepared.events)];
  return insertEndpoint(knex, scope, { id, kind: 'endpoint', url, description, enabled, events, sealedSecret: sealSecret(deps.keyRing, id, secret) });
}

/** Both steps, for callers without an idempotency key. @throws DomainError target_url_not_allowed */
export async function createEndpoint(deps: EndpointDeps, scope: Scope, input: CreateEndpointInput): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const prepared = await prepareEndpoint(deps, scope, input);
  return { endpoint: await writeEndpoint(deps, deps.db.knex, scope, prepared), secret: prepared.secret };
}
