// A card setup's states and every legal move between them: a hosted page that saves a card of a known customer and charges
// nothing, so no move emits an event. docs/states.md is drawn from this table. Specification: Payment tokens.
import { expiresInMinutes, type SessionStatus } from './checkout-session.ts';

/** The same words as a checkout session's. */
export type CardSetupStatus = SessionStatus;

export interface CardSetupTransition {
  readonly from: CardSetupStatus;
  readonly to: CardSetupStatus;
  readonly by: string;
}

/** Cards the gateway may refuse on one page before it closes: a page that charges nothing is what stolen numbers are tried on. */
export const maxRejectedCards = 5;

export const cardSetupTransitions = [
  { from: 'open', to: 'completed', by: 'a card is saved' },
  { from: 'open', to: 'failed', by: `the gateway refused ${maxRejectedCards} cards` },
  { from: 'open', to: 'expired', by: 'expires_at reached' },
  { from: 'open', to: 'cancelled', by: 'customer cancels' },
] as const satisfies readonly CardSetupTransition[];

/** As long as a checkout session lives when nobody says otherwise. */
export const cardSetupMinutes = expiresInMinutes.default;
