// The api_keys table. A key is stored as its SHA-256 with prefix and last four; the text is shown once and never kept.
// The look-up of a caller's key is part of the admission statement in models/rate-window.ts.
import type { Mode, Scope } from '../domain/mode.ts';
import { BaseModel } from './base.ts';
import type { Database, Statement } from './database.ts';
import type { Knex } from 'knex';

export class ApiKey extends BaseModel {
  static override tableName = 'api_keys';
  declare id: string;
  declare merchantId: string;
  declare mode: Mode;
  declare keyHash: Buffer;
  declare prefix: string;
  declare last4: string;
  declare createdAt: Date;
  declare expiresAt: Date | null;
  declare revokedAt: Date | null;
  declare lastUsedAt: Date | null;
}

export type ApiKeyRow = Pick<ApiKey, 'id' | 'merchantId' | 'mode' | 'prefix' | 'last4' | 'createdAt' | 'expiresAt' | 'revokedAt' | 'lastUsedAt'>;

const shown = ['id', 'merchantId', 'mode', 'prefix', 'last4', 'createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'] as const;

export async function insertApiKey(
  knex: Knex,
  key: Scope & { id: string; keyHash: Buffer; prefix: string; last4: string; expiresAt: Date | null },
): Promise<void> {
  await ApiKey.query(knex).insert(key);
}

/** Every key of a merchant, in both modes, oldest first: for the operator's command line. */
export async function listApiKeys(knex: Knex, merchantId: string): Promise<ApiKeyRow[]> {
  return ApiKey.query(knex).select(...shown).where({ merchantId }).orderBy(['createdAt', 'id']);
}

/** Unscoped: the operator names a key by its id or its hash. @returns the key, or null when there is none */
export async function revokeApiKey(knex: Knex, named: { id: string } | { keyHash: Buffer }): Promise<ApiKeyRow | null> {
  // The first revocation's time stays: revoking again changes nothing.
  await ApiKey.query(knex).where(named).whereNull('revokedAt').patch({ revokedAt: knex.fn.now() as unknown as Date });
  return (await ApiKey.query(knex).select(...shown).findOne(named)) ?? null;
}

/** Ends a key at an instant in the future: a rolled key overlaps with its successor. */
export async function expireApiKey(knex: Knex, id: string, overlapMs: number): Promise<void> {
  await knex.raw(`update api_keys set expires_at = least(coalesce(expires_at, 'infinity'), now() + ? * interval '1 millisecond') where id = ?`, [overlapMs, id]);
}

const ownStatement: Statement = {
  name: 'own-key',
  text: `select k.id as key_id, k.prefix, k.last4, m.id as merchant_id, m.name as merchant_name
    from api_keys k join merchants m on m.id = k.merchant_id where k.id = $1 and k.merchant_id = $2 and k.mode = $3`,
};

export interface OwnKeyRow {
  readonly key_id: string;
  readonly prefix: string;
  readonly last4: string;
  readonly merchant_id: string;
  readonly merchant_name: string;
}

/** The caller's own key with its merchant, for GET /me. */
export async function findOwnKey(db: Database, scope: Scope, keyId: string): Promise<OwnKeyRow | null> {
  const [row] = await db.run<OwnKeyRow>(ownStatement, [keyId, scope.merchantId, scope.mode]);
  return row ?? null;
}

const usedStatement: Statement = {
  name: 'keys-used',
  text: `update api_keys k set last_used_at = u.at from (
      select api_keys.id, used.at from api_keys join unnest($1::text[], $2::timestamptz[]) used(id, at) using (id)
      where api_keys.last_used_at is null or api_keys.last_used_at < used.at - interval '1 minute' order by id for update of api_keys
    ) u where u.id = k.id`,
};

/** Notes when keys were last used, at most once a minute each. */
export async function markKeysUsed(db: Database, used: ReadonlyMap<string, Date>): Promise<void> {
  await db.runAlone(usedStatement, [[...used.keys()], [...used.values()]]);
}
