// A checkout session's states and every legal move between them; each move names the events it emits.
// docs/states.md is drawn from this table. Specification: Checkout session status.
import type { EventName } from './event.ts';

export const sessionStatuses = ['open', 'completed', 'failed', 'expired', 'cancelled'] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

export interface SessionTransition {
  readonly from: SessionStatus;
  readonly to: SessionStatus;
  readonly by: string;
  readonly events: readonly EventName[];
}

export const sessionTransitions = [
  { from: 'open', to: 'completed', by: 'payment captured or authorised', events: ['payment.completed', 'checkout_session.completed'] },
  { from: 'open', to: 'failed', by: 'payment declined', events: ['payment.failed'] },
  { from: 'open', to: 'expired', by: 'expires_at reached, or expired by the merchant', events: ['checkout_session.expired'] },
  { from: 'open', to: 'cancelled', by: 'customer cancels', events: ['checkout.cancelled'] },
] as const satisfies readonly SessionTransition[];

/** Terminal states stay terminal. */
export function isTerminal(status: SessionStatus): boolean {
  return status !== 'open';
}

/** Statuses of a payment during which its session counts as "an attempt is in flight". */
export const inFlightStatuses = ['requires_action', 'processing'] as const;

/** Milliseconds before `expires_at` from which no attempt may be claimed, so that no read can contradict a claim. */
export const lastClaimBeforeExpiryMs = 250;
/** Milliseconds after `expires_at` at which an unfinished 3DS authentication is cancelled at the gateway. */
export const authenticationGraceMs = 15 * 60_000;

export const expiresInMinutes = { min: 1, max: 1440, default: 30 } as const;

/**
 * The status a reader sees at `now` (UTC ms): an open session past its end reads as expired unless an attempt is in
 * flight, because timers have a resolution of about a second and reads do not.
 */
export function visibleStatus(session: { status: SessionStatus; expiresAt: Date; attemptInFlight: boolean }, now: Date): SessionStatus {
  if (session.status === 'open' && !session.attemptInFlight && now.getTime() >= session.expiresAt.getTime()) return 'expired';
  return session.status;
}
