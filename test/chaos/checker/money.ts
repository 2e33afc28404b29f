// V1, V3, and V2 for customers: the gateway's ledger is the judge. Every charge in it is known here, no key and no payment is charged twice,
// and a session is completed exactly when one charge of it was captured, for the amount that was asked.
import type { World } from '../world.ts';
import type { Violation } from './checker.ts';

interface Row {
  readonly session_id: string;
  readonly session_status: string;
  readonly completed_at: Date | null;
  readonly amount: string;
  readonly currency: string;
  readonly attempt_in_flight: boolean;
  readonly transaction_id: string;
  readonly status: string;
  readonly transaction_amount: string;
  readonly amount_captured: string;
  readonly gateway_transaction_id: string | null;
  readonly approved: string;
  readonly open_attempts: string;
}

const rowsSql = `select s.id as session_id, s.status as session_status, s.completed_at, s.amount, s.currency, s.attempt_in_flight,
    t.id as transaction_id, t.status, t.amount as transaction_amount, t.amount_captured, t.gateway_transaction_id,
    (select count(*) from payment_attempts a where a.transaction_id = t.id and a.status = 'approved') as approved,
    (select count(*) from payment_attempts a where a.transaction_id = t.id and a.status in ('requested', 'claimed', 'requires_action', 'unknown')) as open_attempts
  from checkout_sessions s left join transactions t on t.id = s.transaction_id`;

/** Which payment statuses a session's status allows. */
const paymentOf: Readonly<Record<string, readonly string[]>> = {
  open: ['pending', 'requires_action', 'processing'],
  // Later refunds and voids leave the session as it is.
  completed: ['captured', 'authorized', 'partially_refunded', 'refunded', 'voided'],
  failed: ['failed'],
  expired: ['expired'],
  cancelled: ['expired'],
};

const lastSeen = new WeakMap<World, Map<string, string>>();

export async function checkMoney(world: World): Promise<{ violations: Violation[]; counts: Record<string, number> }> {
  const { stack } = world;
  const violations: Violation[] = [];
  const add = (invariant: Violation['invariant'], what: string): void => void violations.push({ invariant, what });
  const rows = await stack.query<Row>(rowsSql);
  const charges = (await stack.ledger()).filter((entry) => entry.type === 'charge');
  const attempts = await stack.query<{ gateway_key: string; transaction_id: string }>('select gateway_key, transaction_id from payment_attempts');
  const transactionOfKey = new Map(attempts.map((attempt) => [attempt.gateway_key, attempt.transaction_id]));

  const taken = charges.filter((entry) => ['captured', 'authorized', 'voided'].includes(entry.status));
  for (const [key, entries] of grouped(taken, (entry) => entry.key)) if (entries.length > 1) add('V1', `key ${key} was charged ${entries.length} times`);
  const byReference = grouped(taken, (entry) => entry.reference);
  for (const [reference, entries] of byReference) if (entries.length > 1) add('V1', `payment ${reference} was charged ${entries.length} times: ${entries.map((entry) => entry.key).join(', ')}`);
  for (const entry of charges) {
    if (transactionOfKey.get(entry.key) !== entry.reference) add('V1', `ledger charge ${entry.id} (${entry.key}, ${entry.status}) is not known to the database`);
  }

  for (const row of rows) {
    const charged = byReference.get(row.transaction_id) ?? [];
    const isCaptured = ['captured', 'authorized', 'partially_refunded', 'refunded', 'voided'].includes(row.status);
    if (isCaptured !== charged.length > 0) add('V1', `payment ${row.transaction_id} is ${row.status}, the ledger has ${charged.length} charges for it`);
    const [first] = charged;
    if (isCaptured && first !== undefined) {
      if (first.id !== row.gateway_transaction_id) add('V1', `payment ${row.transaction_id} names ${row.gateway_transaction_id}, the ledger ${first.id}`);
      if (first.amount_captured !== Number(row.amount_captured) || first.currency !== row.currency) add('V1', `payment ${row.transaction_id}: captured ${row.amount_captured} ${row.currency} here, ${first.amount_captured} ${first.currency} there`);
      if (Number(row.amount_captured) !== Number(row.amount)) add('V1', `payment ${row.transaction_id}: ${row.amount_captured} captured of ${row.amount}`);
    }
    const completed = row.session_status === 'completed';
    if (completed !== (charged.length === 1)) add('V3', `session ${row.session_id} is ${row.session_status} with ${charged.length} charges`);
    if (completed !== (row.completed_at !== null)) add('V3', `session ${row.session_id} is ${row.session_status}, completed_at ${String(row.completed_at)}`);
    if (Number(row.approved) !== (completed ? 1 : 0)) add('V3', `session ${row.session_id} is ${row.session_status} with ${row.approved} approved attempts`);
    if (!completed || isCaptured) {
      if (!(paymentOf[row.session_status] ?? []).includes(row.status)) add('V3', `session ${row.session_id} is ${row.session_status}, its payment ${row.status}`);
    }
    if (row.session_status !== 'open' && (Number(row.open_attempts) > 0 || row.attempt_in_flight)) add('V3', `session ${row.session_id} is ${row.session_status} with an attempt still open`);
  }
  const statusOf = new Map(rows.map((row) => [row.session_id, row.session_status]));
  for (const { sessionId, status } of world.told) {
    if (statusOf.get(sessionId) !== status) add('V2', `a customer was led on as if ${sessionId} were ${status}; it is ${statusOf.get(sessionId)}`);
  }
  checkTerminal(world, rows, add);
  const counts: Record<string, number> = { sessions: rows.length, charges: charges.length, approved: taken.length };
  for (const row of rows) counts[row.session_status] = (counts[row.session_status] ?? 0) + 1;
  return { violations, counts };
}

/** What an earlier check of this world saw ended has not moved since. */
function checkTerminal(world: World, rows: readonly Row[], add: (invariant: 'V3', what: string) => void): void {
  const seen = lastSeen.get(world) ?? new Map<string, string>();
  lastSeen.set(world, seen);
  for (const row of rows) {
    const before = seen.get(row.session_id);
    if (before !== undefined && before !== row.session_status) add('V3', `session ${row.session_id} left the terminal state ${before} for ${row.session_status}`);
    if (row.session_status !== 'open') seen.set(row.session_id, row.session_status);
  }
  const present = new Set(rows.map((row) => row.session_id));
  for (const id of seen.keys()) if (!present.has(id)) add('V3', `session ${id} is gone`);
}

export function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
