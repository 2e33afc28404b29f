// Where events are sent: a merchant's own endpoints and the hooks of automation platforms. Deleted ones stay as rows, for
// the deliveries that name them. Every query is scoped by merchant and mode.
import type { Knex } from 'knex';
import type { EventName } from '../domain/event.ts';
import type { Mode, Scope } from '../domain/mode.ts';
import { BaseModel } from './base.ts';
import { Delivery } from './delivery.ts';

export type EndpointKind = 'endpoint' | 'automation';
/** `merchant`: by the merchant; `gone`: it answered 410; `failing`: nothing but failure for five days. */
export type DisabledReason = 'merchant' | 'gone' | 'failing';

export class WebhookEndpoint extends BaseModel {
  static override tableName = 'webhook_endpoints';
  declare id: string;
  declare merchantId: string;
  declare mode: Mode;
  declare kind: EndpointKind;
  declare url: string;
  declare description: string | null;
  /** `['*']` or names. */
  declare events: string[];
  declare enabled: boolean;
  declare disabledReason: DisabledReason | null;
  declare disabledAt: Date | null;
  declare sealedSecret: string;
  declare sealedNextSecret: string | null;
  declare swapsAt: Date | null;
  declare failingSince: Date | null;
  declare consecutiveFailures: number;
  declare lastSuccessAt: Date | null;
  declare lastFailureAt: Date | null;
  declare slow: boolean;
  declare createdAt: Date;
  declare updatedAt: Date;
  declare deletedAt: Date | null;
}

export interface NewEndpoint {
  readonly id: string;
  readonly kind: EndpointKind;
  readonly url: string;
  readonly description: string | null;
  readonly events: readonly (EventName | '*')[];
  readonly enabled: boolean;
  readonly sealedSecret: string;
}

export interface EndpointChanges {
  readonly url?: string | undefined;
  readonly description?: string | null | undefined;
  readonly events?: readonly (EventName | '*')[] | undefined;
  readonly enabled?: boolean | undefined;
}

/** @param knex a transaction, or `db.knex` */
export async function insertEndpoint(knex: Knex, scope: Scope, endpoint: NewEndpoint): Promise<WebhookEndpoint> {
  const off = endpoint.enabled ? {} : { disabledReason: 'merchant' as const, disabledAt: new Date() };
  return WebhookEndpoint.query(knex).insert({ ...endpoint, ...off, events: [...endpoint.events], merchantId: scope.merchantId, mode: scope.mode }).returning('*');
}

/** Null for one that is deleted, another's, or of the other mode. */
export async function findEndpoint(knex: Knex, scope: Scope, id: string): Promise<WebhookEndpoint | null> {
  return (await own(knex, scope).findById(id)) ?? null;
}

/** Newest first. */
export async function listEndpoints(knex: Knex, scope: Scope, page: { page: number; limit: number }): Promise<{ rows: WebhookEndpoint[]; total: number }> {
  const { results, total } = await own(knex, scope).orderBy([{ column: 'created_at', order: 'desc' }, { column: 'id', order: 'desc' }]).page(page.page - 1, page.limit);
  return { rows: results, total };
}

/**
 * Changes an endpoint. Switching it off ends what waits for it as `skipped`; switching it on, or giving it another
 * address, begins its health anew. @param trx a transaction: endpoint and deliveries move together
 */
export async function changeEndpoint(trx: Knex.Transaction, scope: Scope, id: string, changes: EndpointChanges): Promise<WebhookEndpoint | null> {
  const before = await own(trx, scope).findById(id).forUpdate();
  if (before === undefined) return null;
  const goesOff = changes.enabled === false && before.enabled;
  const fresh = (changes.enabled === true && !before.enabled) || (changes.url !== undefined && changes.url !== before.url);
  const row = await before.$query(trx).patchAndFetch({
    updatedAt: new Date(),
    ...(changes.url === undefined ? {} : { url: changes.url }),
    ...(changes.description === undefined ? {} : { description: changes.description }),
    ...(changes.events === undefined ? {} : { events: [...changes.events] }),
    ...(changes.enabled === true ? { enabled: true, disabledReason: null, disabledAt: null } : {}),
    ...(goesOff ? { enabled: false, disabledReason: 'merchant' as const, disabledAt: new Date() } : {}),
    ...(fresh ? { failingSince: null, consecutiveFailures: 0, slow: false } : {}),
  });
  if (goesOff) await endWaiting(trx, id, 'skipped');
  return row;
}

/** Deletes an endpoint and cancels what waits for it. @returns false when there is none */
export async function deleteEndpoint(trx: Knex.Transaction, scope: Scope, id: string): Promise<boolean> {
  const deleted = await own(trx, scope).findById(id).patch({ deletedAt: new Date(), enabled: false });
  if (deleted === 0) return false;
  await endWaiting(trx, id, 'cancelled');
  return true;
}

function own(knex: Knex, scope: Scope) {
  return WebhookEndpoint.query(knex).where({ merchant_id: scope.merchantId, mode: scope.mode }).whereNull('deleted_at');
}

async function endWaiting(trx: Knex.Transaction, endpointId: string, status: 'skipped' | 'cancelled'): Promise<void> {
  await Delivery.query(trx).where({ endpoint_id: endpointId }).whereIn('status', ['pending', 'retrying']).patch({ status, dueAt: null, leasedUntil: null });
}
