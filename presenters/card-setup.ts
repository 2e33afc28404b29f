// The card setup as merchants see it, on create and on retrieve. Pure functions of rows.
import { visibleStatus } from '../domain/checkout-session.ts';
import type { CardSetupRow, NewCardSetup } from '../models/card-setup.ts';

export function presentCreatedCardSetup(setup: Pick<NewCardSetup, 'id' | 'expiresAt'>, setupUrl: string) {
  return { id: setup.id, setup_url: setupUrl, expires_at: setup.expiresAt.toISOString() };
}

/** `readAt` decides whether an open setup already reads as expired. */
export function presentCardSetup(setup: CardSetupRow) {
  return {
    id: setup.id,
    status: visibleStatus({ ...setup, attemptInFlight: false }, setup.readAt),
    customer_id: setup.customerId,
    subscription_id: setup.subscriptionId,
    token_id: setup.tokenId,
    expires_at: setup.expiresAt.toISOString(),
    completed_at: setup.completedAt?.toISOString() ?? null,
  };
}
