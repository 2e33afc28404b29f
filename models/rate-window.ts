// The rate_windows table: who called when within the last 60 seconds. One statement admits a whole batch; each decision is
// taken on the row as it is after its lock, so that concurrent processes never let one too many through, and refused calls
// leave no mark. Specification: Limits.
import { rateWindowMs } from '../domain/rate-tier.ts';
import type { Mode } from '../domain/mode.ts';
import { camelRow } from './base.ts';
import type { Database, Statement } from './database.ts';

const span = `interval '${rateWindowMs} milliseconds'`;

// Rows are locked in the order of their buckets: two batches can wait for each other, but never in a circle.
// The clock is read after the lock (clock_timestamp, not now), so hits are stored in the order they were admitted.
const upsert = `
  insert into rate_windows as w (bucket, hits, admitted, capacity, touched_at)
  select a.bucket, array_fill(a.at, array[least(a.wanted, a.capacity)]), least(a.wanted, a.capacity), a.capacity, a.at
  from (select bucket, wanted, capacity, clock_timestamp() as at from asked order by bucket) a
  on conflict (bucket) do update set (hits, admitted, capacity, touched_at) = (
    select kept.hits || array_fill(kept.at, array[n.admitted]), n.admitted, excluded.capacity, kept.at
    from (
      select c.at, array(select h from unnest(w.hits) h where h > c.at - ${span} and h <= c.at) as hits
      from (select clock_timestamp() as at offset 0) c
      offset 0
    ) kept
    cross join lateral (select least(excluded.admitted, greatest(excluded.capacity - cardinality(kept.hits), 0)) as admitted) n
  )
  returning w.bucket, w.admitted, cardinality(w.hits) as used, w.touched_at as at,
    greatest(1, ceil(extract(epoch from w.hits[cardinality(w.hits) - w.capacity + 1] + ${span} - w.touched_at)))::integer as retry_after`;

const admitBucketsStatement: Statement = {
  name: 'admit-buckets',
  text: `with asked as (select * from unnest($1::text[], $2::integer[], $3::integer[]) a(bucket, capacity, wanted)), decided as (${upsert}) select * from decided`,
};

// Key look-up, decision and Postgres' clock in one round trip.
const admitKeysStatement: Statement = {
  name: 'admit-keys',
  text: `
    with asked as materialized (
      select a.place, k.id as key_id, k.merchant_id, k.mode, k.id || ':' || a.tier as bucket, a.capacity, a.wanted
      from unnest($1::text[], $2::text[], $3::integer[], $4::integer[]) with ordinality a(key_hash, tier, capacity, wanted, place)
      join api_keys k on k.key_hash = decode(a.key_hash, 'hex')
      where k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
    ), decided as (${upsert})
    select a.place::integer - 1 as place, a.key_id, a.merchant_id, a.mode, d.admitted, d.used, d.at, d.retry_after
    from asked a join decided d on d.bucket = a.bucket`,
};

/** What became of `wanted` calls: the first `admitted` of them may go on. */
export interface WindowDecision {
  readonly admitted: number;
  /** Calls in the window, the admitted ones included. */
  readonly used: number;
  /** Postgres' clock at the decision. */
  readonly at: Date;
  /** Whole seconds until a refused call would find room. */
  readonly retryAfter: number | null;
}

export interface KeyDecision extends WindowDecision {
  readonly keyId: string;
  readonly merchantId: string;
  readonly mode: Mode;
}

export interface KeyAsk {
  /** SHA-256 of the key, hex. */
  readonly keyHash: string;
  readonly tier: string;
  readonly capacity: number;
  readonly wanted: number;
}

/** @param asks distinct in (keyHash, tier). @returns one decision per ask, null where no such key is valid now */
export async function admitKeys(db: Database, asks: readonly KeyAsk[]): Promise<(KeyDecision | null)[]> {
  const rows = await db.run<{ place: number }>(admitKeysStatement, [
    asks.map((a) => a.keyHash),
    asks.map((a) => a.tier),
    asks.map((a) => a.capacity),
    asks.map((a) => a.wanted),
  ]);
  const result: (KeyDecision | null)[] = asks.map(() => null);
  for (const row of rows) result[row.place] = camelRow<KeyDecision>(row);
  return result;
}

export interface BucketAsk {
  readonly bucket: string;
  readonly capacity: number;
  readonly wanted: number;
}

/** @param asks distinct in bucket. @returns one decision per ask */
export async function admitBuckets(db: Database, asks: readonly BucketAsk[]): Promise<WindowDecision[]> {
  const rows = await db.run<{ bucket: string }>(admitBucketsStatement, [asks.map((a) => a.bucket), asks.map((a) => a.capacity), asks.map((a) => a.wanted)]);
  const byBucket = new Map(rows.map((row) => [row.bucket, camelRow<WindowDecision>(row)]));
  return asks.map((ask) => {
    const decision = byBucket.get(ask.bucket);
    if (decision === undefined) throw new Error(`no decision for bucket ${ask.bucket}`);
    return decision;
  });
}

const dropStatement: Statement = {
  name: 'drop-rate-windows',
  text: `delete from rate_windows where bucket in (
    select bucket from rate_windows where touched_at < now() - 2 * ${span} order by bucket limit $1 for update skip locked)`,
};

/** For the sweep: forgets windows in which nothing happened for two minutes, at most `limit` at once. */
export async function dropIdleRateWindows(db: Database, limit: number): Promise<void> {
  await db.runAlone(dropStatement, [limit]);
}
