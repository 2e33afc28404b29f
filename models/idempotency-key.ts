// The idempotency_keys table: requests that carried a key, and the answers kept for them. Sealed bodies go in and out;
// this file never sees a clear one. Specification: Endpoints (Idempotency-Key).
import type { Knex } from 'knex';
import type { Scope } from '../domain/mode.ts';
import { camelRow } from './base.ts';
import type { ReservedOperation } from './begin-claim.ts';
import type { Database, Statement } from './database.ts';

export interface IdempotencyRow {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly fingerprint: string;
  readonly status: 'in_progress' | 'completed';
  readonly leaseUntil: Date | null;
  /** Whether the call that holds the key is still waiting, by Postgres' clock. */
  readonly leased: boolean;
  readonly expired: boolean;
  /** The operation the key stands for while it is in progress; `{}` when it stands for none. */
  readonly reserved: ReservedOperation | Record<string, never>;
  readonly resourceType: string | null;
  readonly resourceId: string | null;
  readonly responseStatus: number | null;
  readonly sealedBody: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const columns = `key, method, path, fingerprint, status, lease_until, coalesce(lease_until > clock_timestamp(), false) as leased,
  expires_at <= now() as expired, reserved, resource_type, resource_id, response_status, sealed_body, created_at, expires_at`;

const findStatement: Statement = {
  name: 'find-idempotency-key',
  text: `select ${columns} from idempotency_keys where merchant_id = $1 and mode = $2 and key = $3`,
};

export async function findIdempotencyKey(db: Database, scope: Scope, key: string): Promise<IdempotencyRow | null> {
  const [row] = await db.run<object>(findStatement, [scope.merchantId, scope.mode, key]);
  return row === undefined ? null : camelRow<IdempotencyRow>(row);
}

export interface KeyOfRequest {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly fingerprint: string;
}

export interface SealedAnswer {
  readonly status: number;
  readonly sealedBody: string;
  readonly resourceType: string | null;
  readonly resourceId: string | null;
}

/** Inside a transaction: takes the key together with its answer. @returns false when somebody else has it */
export async function insertCompletedKey(knex: Knex, scope: Scope, key: KeyOfRequest, answer: SealedAnswer, retentionDays: number): Promise<boolean> {
  const result = await knex.raw<{ rowCount: number }>(
    `insert into idempotency_keys (merchant_id, mode, key, method, path, fingerprint, status, response_status, sealed_body, resource_type, resource_id, expires_at)
     values (?, ?, ?, ?, ?, ?, 'completed', ?, ?, ?, ?, now() + ? * interval '1 day') on conflict (merchant_id, mode, key) do nothing`,
    [scope.merchantId, scope.mode, key.key, key.method, key.path, key.fingerprint, answer.status, answer.sealedBody, answer.resourceType, answer.resourceId, retentionDays] as string[],
  );
  return result.rowCount > 0;
}

/** Inside a transaction: takes the key before the work; a concurrent holder is waited for. @returns false when taken */
export async function reserveKey(knex: Knex, scope: Scope, key: KeyOfRequest, retentionDays: number): Promise<boolean> {
  const result = await knex.raw<{ rowCount: number }>(
    `insert into idempotency_keys (merchant_id, mode, key, method, path, fingerprint, expires_at)
     values (?, ?, ?, ?, ?, ?, now() + ? * interval '1 day') on conflict (merchant_id, mode, key) do nothing`,
    [scope.merchantId, scope.mode, key.key, key.method, key.path, key.fingerprint, retentionDays] as string[],
  );
  return result.rowCount > 0;
}

/** Stores the answer of a key in progress. */
export async function completeKey(knex: Knex, scope: Scope, key: string, answer: SealedAnswer): Promise<void> {
  await knex.raw(
    `update idempotency_keys set status = 'completed', lease_until = null, response_status = ?, sealed_body = ?, resource_type = ?, resource_id = ?
     where merchant_id = ? and mode = ? and key = ? and status = 'in_progress'`,
    [answer.status, answer.sealedBody, answer.resourceType, answer.resourceId, scope.merchantId, scope.mode, key] as string[],
  );
}

const keepStatement: Statement = {
  name: 'keep-answer',
  text: `update idempotency_keys set status = 'completed', lease_until = null, response_status = $4, sealed_body = $5, resource_type = $6, resource_id = $7
    where merchant_id = $1 and mode = $2 and key = $3 and status = 'in_progress'`,
};

/** The same outside of a transaction. */
export async function keepAnswer(db: Database, scope: Scope, key: string, answer: SealedAnswer): Promise<void> {
  await db.runAlone(keepStatement, [scope.merchantId, scope.mode, key, answer.status, answer.sealedBody, answer.resourceType, answer.resourceId]);
}

// A lease that ran out belongs to a call that died: the same request may take it over, another one may not.
const leaseStatement: Statement = {
  name: 'lease-idempotency-key',
  text: `insert into idempotency_keys as k (merchant_id, mode, key, method, path, fingerprint, lease_until, expires_at)
    values ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7 * interval '1 millisecond', now() + $8 * interval '1 day')
    on conflict (merchant_id, mode, key) do update set lease_until = excluded.lease_until
      where k.status = 'in_progress' and k.fingerprint = excluded.fingerprint and coalesce(k.lease_until <= clock_timestamp(), true)
    returning xmax <> 0 as resumed`,
};

/** @returns null when the key is somebody else's; `resumed` when an earlier call of the same request died with it */
export async function leaseKey(db: Database, scope: Scope, key: KeyOfRequest, leaseMs: number, retentionDays: number): Promise<{ resumed: boolean } | null> {
  const [row] = await db.runAlone<{ resumed: boolean }>(leaseStatement, [scope.merchantId, scope.mode, key.key, key.method, key.path, key.fingerprint, leaseMs, retentionDays]);
  return row ?? null;
}

const renewStatement: Statement = {
  name: 'renew-idempotency-key',
  text: `update idempotency_keys set lease_until = clock_timestamp() + $4 * interval '1 millisecond'
    where merchant_id = $1 and mode = $2 and key = $3 and status = 'in_progress'`,
};

export async function renewLease(db: Database, scope: Scope, key: string, leaseMs: number): Promise<void> {
  await db.runAlone(renewStatement, [scope.merchantId, scope.mode, key, leaseMs]);
}

const freeStatement: Statement = {
  name: 'free-idempotency-key',
  text: `delete from idempotency_keys where merchant_id = $1 and mode = $2 and key = $3 and (status = 'in_progress' or expires_at <= now())`,
};

/** Frees a key whose call left nothing to remember, or whose time is over. */
export async function freeKey(db: Database, scope: Scope, key: string): Promise<void> {
  await db.runAlone(freeStatement, [scope.merchantId, scope.mode, key]);
}

const dropStatement: Statement = {
  name: 'drop-idempotency-keys',
  text: `delete from idempotency_keys where ctid = any(array(select ctid from idempotency_keys where expires_at <= now() limit $1 for update skip locked))`,
};

/** For the sweep: forgets keys after their 30 days, at most `limit` at once. */
export async function dropExpiredIdempotencyKeys(db: Database, limit: number): Promise<void> {
  await db.runAlone(dropStatement, [limit]);
}

const releaseStatement: Statement = {
  name: 'release-idempotency-lease',
  text: `update idempotency_keys set lease_until = null where merchant_id = $1 and mode = $2 and key = $3 and status = 'in_progress'`,
};

/** The call that held the key gives up waiting; the operation goes on and a retry attaches to it. */
export async function releaseLease(db: Database, scope: Scope, key: string): Promise<void> {
  await db.runAlone(releaseStatement, [scope.merchantId, scope.mode, key]);
}

const takeLeaseStatement: Statement = {
  name: 'take-idempotency-lease',
  text: `update idempotency_keys set lease_until = clock_timestamp() + $4 * interval '1 millisecond'
    where merchant_id = $1 and mode = $2 and key = $3 and status = 'in_progress' and coalesce(lease_until <= clock_timestamp(), true) returning key`,
};

/** For a retry that attaches to the operation of its key. @returns false when another call waits already */
export async function takeLease(db: Database, scope: Scope, key: string, leaseMs: number): Promise<boolean> {
  return (await db.runAlone<object>(takeLeaseStatement, [scope.merchantId, scope.mode, key, leaseMs])).length === 1;
}

const abandonedStatement: Statement = {
  name: 'abandoned-idempotency-keys',
  text: `select merchant_id, mode, key, reserved from idempotency_keys
    where status = 'in_progress' and reserved ? 'operationId' and coalesce(lease_until < now() - interval '5 seconds', true) order by created_at limit $1`,
};

/** Keys in progress whose call waits no longer. Unscoped: sweep. */
export async function abandonedKeys(db: Database, limit: number): Promise<(Scope & { key: string; reserved: ReservedOperation })[]> {
  return (await db.run<object>(abandonedStatement, [limit])).map((row) => camelRow<Scope & { key: string; reserved: ReservedOperation }>(row));
}
