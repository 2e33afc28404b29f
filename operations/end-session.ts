// Ends an open session without a payment: expired by time or by the merchant, cancelled by the customer. Refuses while an
// attempt is in flight. Specification: Checkout session status.
import type { EventName } from '../domain/event.ts';
import type { SessionRow } from '../models/checkout-session.ts';
import { findOpenAttempt, readAttemptContext } from '../models/payment-attempt.ts';
import { readSessionOfWorkflow, writeSessionEnd } from '../models/session-moves.ts';
import type { EndResult } from '../temporal/contract.ts';
import type { OperationDeps } from './deps.ts';
import { sessionEvent } from './payment-events.ts';
import { resultOf } from './settle-attempt.ts';

const events = { expired: 'checkout_session.expired', cancelled: 'checkout.cancelled' } as const satisfies Record<string, EventName>;

/** More lost races than this within one call is a fault. */
const maxRaces = 5;

/** @param when `now` ends it at once, `due` only when `expires_at` has come on Postgres' clock */
export async function endSession(deps: OperationDeps, sessionId: string, to: 'expired' | 'cancelled', when: 'now' | 'due'): Promise<EndResult> {
  for (let race = 0; race < maxRaces; race++) {
    const session = await readSessionOfWorkflow(deps.db, sessionId);
    if (session === null) return { state: 'already', status: 'unknown' };
    if (session.status !== 'open') return { state: 'already', status: session.status };
    if (session.attemptInFlight) {
      const open = await findOpenAttempt(deps.db, sessionId);
      if (open === null) continue;
      return { state: 'in_flight', attemptId: open.id, attempt: resultOf(await readAttemptContext(deps.db, open.id)) };
    }
    if (when === 'due' && session.readAt < session.expiresAt) return { state: 'early', expiresAtMs: session.expiresAt.getTime() };
    const ended: SessionRow = { ...session, status: to };
    const sequence = session.eventSequence + 1;
    const event = sessionEvent(deps, events[to], ended, session.transaction, sequence, session.readAt);
    const leased = await writeSessionEnd(deps.db, { sessionId, to, sequence: session.eventSequence, now: when === 'now', events: [event] });
    if (leased !== null) {
      deps.offerDeliveries(leased);
      return { state: 'ended', status: to };
    }
  }
  throw new Error(`session ${sessionId} could not be ended: its row kept moving`);
}
