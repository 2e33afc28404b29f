// V10: within 120 s of the fault nothing is under way any more: no claim in progress, no `processing`, no attempt,
// capture, void or refund begun and not settled, no delivery pending or sending, no open session without its workflow, nothing idle in a transaction.
import type { World } from '../world.ts';
import { sleep } from '../world.ts';
import type { Violation } from './checker.ts';

const withinMs = 120_000;

const work: Readonly<Record<string, string>> = {
  'idempotency claims in progress': `select key as id from idempotency_keys where status = 'in_progress'`,
  'payments processing': `select id from transactions where status = 'processing'`,
  'attempts requested, claimed or unknown': `select id || ' ' || status as id from payment_attempts where status in ('requested', 'claimed', 'unknown')`,
  'sessions in flight without an open attempt': `select id from checkout_sessions s where attempt_in_flight
    and not exists (select from payment_attempts a where a.session_id = s.id and a.status in ('claimed', 'requires_action', 'unknown'))`,
  'captures or voids under way': `select id || ' ' || status as id from payment_operations where status in ('requested', 'claimed', 'unknown')`,
  'operations marked on a payment': `select id || ' ' || pending_operation as id from transactions where pending_operation is not null`,
  'refunds under way': `select id || ' ' || step as id from refunds where step not in ('settled', 'at_gateway')`,
  'payments without a page never tried': `select id from transactions where status = 'pending' and initiated_by = 'merchant'`,
  'deliveries pending or sending': `select id || ' ' || status as id from deliveries where status in ('pending', 'sending')`,
  'deliveries retrying without a workflow': `select id from deliveries where status = 'retrying' and workflow_started_at is null`,
  'open sessions past their end': `select id from checkout_sessions where status = 'open' and not attempt_in_flight and expires_at < now() - interval '2 seconds'`,
  'open sessions without a workflow': `select id from checkout_sessions where status = 'open' and workflow_started_at is null`,
  'connections idle in a transaction': `select pid::text || ' ' || left(query, 80) as id from pg_stat_activity
    where state like 'idle in transaction%' and state_change < now() - interval '2 seconds' and datname = current_database()`,
};

export async function waitUntilQuiet({ stack }: World): Promise<{ violations: Violation[]; afterMs: number }> {
  const begun = Date.now();
  for (;;) {
    const left: Violation[] = [];
    for (const [name, text] of Object.entries(work)) {
      const rows = await stack.query<{ id: string }>(text);
      if (rows.length > 0) left.push({ invariant: 'V10', what: `${rows.length} ${name}, the first: ${rows[0]?.id}` });
    }
    if (left.length === 0 || Date.now() - begun > withinMs) return { violations: left, afterMs: Date.now() - begun };
    await sleep(250);
  }
}
