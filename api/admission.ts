// Who may go on: looks keys up and counts calls, many at a time. While one statement is under way the next batch
// collects, so its size follows the load by itself. Decides nothing on its own: the rows do.
import { createHash } from 'node:crypto';
import { rateTiers, type RateTier } from '../domain/rate-tier.ts';
import type { Mode } from '../domain/mode.ts';
import { markKeysUsed } from '../models/api-key.ts';
import type { Database } from '../models/database.ts';
import { admitBuckets, admitKeys, type WindowDecision } from '../models/rate-window.ts';

export interface Admitted {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds, when refused. */
  readonly retryAfter: number;
  /** Postgres' clock. */
  readonly now: Date;
}

export interface AdmittedKey extends Admitted {
  readonly keyId: string;
  readonly merchantId: string;
  readonly mode: Mode;
}

export interface Admission {
  /** @returns null when the key is unknown, revoked or expired */
  key(token: string, tier: RateTier): Promise<AdmittedKey | null>;
  /** Per client address, for traffic without a key. */
  address(address: string, tier: RateTier, limit?: number): Promise<Admitted>;
  /** Any bucket of its own, such as one session's. */
  bucket(bucket: string, limit: number): Promise<Admitted>;
  close(): Promise<void>;
}

const usesWrittenEveryMs = 30_000;

export function createAdmission(db: Database): Admission {
  const used = new Map<string, Date>();
  const writeUses = async (): Promise<void> => {
    if (used.size === 0) return;
    const uses = new Map(used);
    used.clear();
    // Lost when Postgres is away: it is shown to operators, nothing depends on it.
    await markKeysUsed(db, uses).catch(() => undefined);
  };
  const timer = setInterval(() => void writeUses(), usesWrittenEveryMs);
  timer.unref();

  const keys = createBatcher(
    (asks: readonly { keyHash: string; tier: RateTier }[]) =>
      inGroups(asks, (ask) => `${ask.keyHash}${ask.tier}`, (ask, wanted) => ({ ...ask, capacity: rateTiers[ask.tier], wanted }), (groups) => admitKeys(db, groups)),
  );
  const buckets = createBatcher((asks: readonly { bucket: string; capacity: number }[]) =>
    inGroups(asks, (ask) => ask.bucket, (ask, wanted) => ({ ...ask, wanted }), (groups) => admitBuckets(db, groups)),
  );
  const bucket = async (name: string, limit: number): Promise<Admitted> => {
    const { decision, place } = await buckets({ bucket: name, capacity: limit });
    if (decision === null) throw new Error(`no decision for ${name}`);
    return toAdmitted(decision, place, limit);
  };
  return {
    async key(token, tier) {
      const { decision, place } = await keys({ keyHash: createHash('sha256').update(token).digest('hex'), tier });
      if (decision === null) return null;
      used.set(decision.keyId, decision.at);
      return { ...toAdmitted(decision, place, rateTiers[tier]), keyId: decision.keyId, merchantId: decision.merchantId, mode: decision.mode };
    },
    address: (address, tier, limit = rateTiers[tier]) => bucket(`ip:${address}:${tier}`, limit),
    bucket,
    async close() {
      clearInterval(timer);
      await writeUses();
    },
  };
}

function toAdmitted(decision: WindowDecision, place: number, limit: number): Admitted {
  const allowed = place < decision.admitted;
  return {
    allowed,
    limit,
    // The batch's calls count one after the other, although they were decided together.
    remaining: Math.max(0, limit - (decision.used - decision.admitted) - Math.min(place + 1, decision.admitted)),
    retryAfter: allowed ? 0 : (decision.retryAfter ?? 1),
    now: decision.at,
  };
}

interface Placed<Decision> {
  readonly decision: Decision | null;
  /** Position among the calls of this batch that share the decision. */
  readonly place: number;
}

/** Calls for the same window become one ask; each is told its place in it. */
async function inGroups<Ask, Group, Decision>(
  asks: readonly Ask[],
  keyOf: (ask: Ask) => string,
  toGroup: (ask: Ask, wanted: number) => Group,
  decide: (groups: readonly Group[]) => Promise<(Decision | null)[]>,
): Promise<Placed<Decision>[]> {
  const groups = new Map<string, { index: number; ask: Ask; wanted: number }>();
  const places = asks.map((ask) => {
    const key = keyOf(ask);
    let group = groups.get(key);
    if (group === undefined) groups.set(key, (group = { index: groups.size, ask, wanted: 0 }));
    return { group: group.index, place: group.wanted++ };
  });
  const decisions = await decide([...groups.values()].map((group) => toGroup(group.ask, group.wanted)));
  return places.map(({ group, place }) => ({ decision: decisions[group] ?? null, place }));
}

const batchLimit = 256;

function createBatcher<Ask, Result>(run: (asks: readonly Ask[]) => Promise<Result[]>): (ask: Ask) => Promise<Result> {
  const waiting: { ask: Ask; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = [];
  let scheduled = false;
  const send = async (): Promise<void> => {
    const batch = waiting.splice(0, batchLimit);
    try {
      const results = await run(batch.map((entry) => entry.ask));
      batch.forEach((entry, index) => entry.resolve(results[index] as Result));
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    }
    if (waiting.length > 0) setImmediate(() => void send());
    else scheduled = false;
  };
  return (ask) =>
    new Promise((resolve, reject) => {
      waiting.push({ ask, resolve, reject });
      if (scheduled) return;
      scheduled = true;
      setImmediate(() => void send());
    });
}
