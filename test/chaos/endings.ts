// Waiting for what becomes of sessions, by the rows, and telling how long it took.
import type { ChaosStack } from './stack.ts';
import { sleep } from './world.ts';

/** Resolves with the UTC milliseconds at which each session was first seen ended and told; those that are not are left out. */
export async function untilEnded(stack: ChaosStack, ids: readonly string[], withinMs: number): Promise<Map<string, number>> {
  const ended = new Map<string, number>();
  const deadline = Date.now() + withinMs;
  while (ended.size < ids.length && Date.now() < deadline) {
    const rows = await stack.query<{ id: string }>(
      `select s.id from checkout_sessions s where s.id = any($1::text[]) and s.status <> 'open'
        and not exists (select from deliveries d where d.resource_id in (s.id, s.transaction_id) and d.status in ('pending', 'sending', 'retrying'))`,
      [ids.filter((id) => !ended.has(id))],
    );
    for (const { id } of rows) ended.set(id, Date.now());
    if (ended.size < ids.length) await sleep(100);
  }
  return ended;
}

/** The same of payments without a page and what is done to them: nothing unknown, nothing under way, all of it told. */
export async function untilSettled(stack: ChaosStack, ids: readonly string[], withinMs: number): Promise<Map<string, number>> {
  const settled = new Map<string, number>();
  const deadline = Date.now() + withinMs;
  while (settled.size < ids.length && Date.now() < deadline) {
    const rows = await stack.query<{ id: string }>(
      `select t.id from transactions t where t.id = any($1::text[]) and t.status not in ('pending', 'processing') and t.pending_operation is null
        and not exists (select from refunds r where r.transaction_id = t.id and r.step not in ('settled', 'at_gateway'))
        and not exists (select from deliveries d where d.resource_id = t.id and d.status in ('pending', 'sending', 'retrying'))`,
      [ids.filter((id) => !settled.has(id))],
    );
    for (const { id } of rows) settled.set(id, Date.now());
    if (settled.size < ids.length) await sleep(100);
  }
  return settled;
}

export async function statusesOf(stack: ChaosStack, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await stack.query<{ id: string; status: string }>('select id, status from checkout_sessions where id = any($1::text[])', [ids]);
  return new Map(rows.map((row) => [row.id, row.status]));
}
