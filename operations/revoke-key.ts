// Ends an API key at once; the next request with it is a 401. Revoking a revoked key changes nothing.
import { DomainError } from '../domain/errors.ts';
import { isId } from '../domain/id.ts';
import { type ApiKeyRow, revokeApiKey } from '../models/api-key.ts';
import { hashKey } from './create-key.ts';
import type { OperationDeps } from './deps.ts';

/** @param named the key's id, or the key itself. @throws DomainError not_found */
export async function revokeKey(deps: Pick<OperationDeps, 'db'>, named: string): Promise<ApiKeyRow> {
  const key = await revokeApiKey(deps.db.knex, isId('key', named) ? { id: named } : { keyHash: hashKey(named) });
  if (key === null) throw new DomainError('not_found', 'There is no such key. Name it by its key_ id or by the key itself.');
  return key;
}
