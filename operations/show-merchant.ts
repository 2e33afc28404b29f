// A merchant with its keys, for operators. Keys appear by id, prefix and last four, never whole.
import { DomainError } from '../domain/errors.ts';
import { type ApiKeyRow, listApiKeys } from '../models/api-key.ts';
import { findMerchant } from '../models/merchant.ts';
import type { OperationDeps } from './deps.ts';

export interface ShownMerchant {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly keys: readonly ApiKeyRow[];
}

/** @throws DomainError not_found */
export async function showMerchant(deps: Pick<OperationDeps, 'db'>, merchantId: string): Promise<ShownMerchant> {
  const merchant = await findMerchant(deps.db.knex, merchantId);
  if (merchant === null) throw new DomainError('not_found', `There is no merchant ${merchantId}.`);
  return { id: merchant.id, name: merchant.name, createdAt: merchant.createdAt, keys: await listApiKeys(deps.db.knex, merchantId) };
}
