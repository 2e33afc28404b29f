// Work that is due and has not moved, counted for operators. Unscoped: it is about the installation.
import type { Database, Statement } from './database.ts';

/** A minute past due is more than any retry or sweep takes. */
const stuckStatement: Statement = {
  name: 'count-stuck-work',
  text: `select
    (select count(*) from checkout_sessions where status = 'open' and due_at < now() - interval '1 minute') as sessions,
    (select count(*) from card_setup_sessions where status = 'open' and expires_at < now() - interval '1 minute') as card_setups,
    (select count(*) from payment_attempts where status in ('requested', 'claimed') and created_at < now() - interval '1 minute') as attempts,
    (select count(*) from transactions where status = 'processing' and updated_at < now() - interval '7 days') as unsettled_payments,
    (select count(*) from deliveries where status in ('pending', 'sending', 'retrying') and due_at < now() - interval '1 minute') as deliveries`,
};

export async function countStuckWork(db: Database): Promise<Readonly<Record<string, number>>> {
  const [row] = await db.run<Record<string, number>>(stuckStatement, []);
  return row ?? {};
}
