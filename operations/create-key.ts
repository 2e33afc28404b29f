// Makes API keys. The key's text leaves here once, towards whoever asked; the database gets its hash.
import { createHash, randomInt } from 'node:crypto';
import type { Knex } from 'knex';
import type { Scope } from '../domain/mode.ts';
import { DomainError } from '../domain/errors.ts';
import { expireApiKey, insertApiKey } from '../models/api-key.ts';
import { findMerchant } from '../models/merchant.ts';
import type { OperationDeps } from './deps.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 43;

export interface CreatedKey {
  readonly keyId: string;
  /** The whole key; cannot be had again. */
  readonly key: string;
}

/** SHA-256 of a key: enough for 256 bits of randomness, and fast. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** @throws DomainError not_found when there is no such merchant */
export async function createKey(deps: Pick<OperationDeps, 'db' | 'newId'>, scope: Scope): Promise<CreatedKey> {
  if ((await findMerchant(deps.db.knex, scope.merchantId)) === null) throw new DomainError('not_found', `There is no merchant ${scope.merchantId}.`);
  return addKey(deps.db.knex, deps.newId, scope);
}

/** A new key beside an old one that stays valid for `overlapMs` more. */
export async function rollKey(deps: Pick<OperationDeps, 'db' | 'newId'>, scope: Scope, oldKeyId: string, overlapMs: number): Promise<CreatedKey> {
  return deps.db.transaction(async (trx) => {
    const created = await addKey(trx, deps.newId, scope);
    await expireApiKey(trx, oldKeyId, overlapMs);
    return created;
  });
}

/** Inside the caller's transaction. */
export async function addKey(knex: Knex, newId: OperationDeps['newId'], scope: Scope): Promise<CreatedKey> {
  const prefix = `svc_${scope.mode}_`;
  const key = prefix + Array.from({ length: secretLength }, () => base62[randomInt(base62.length)]).join('');
  const keyId = newId('key');
  await insertApiKey(knex, { id: keyId, merchantId: scope.merchantId, mode: scope.mode, keyHash: hashKey(key), prefix, last4: key.slice(-4), expiresAt: null });
  return { keyId, key };
}
