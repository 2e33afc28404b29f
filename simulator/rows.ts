// The rows of the simulator's ledger. Each line of the file holds the newest state of one or more of them; a later row
// of the same id replaces the earlier one. A row never holds a card number: only what the card does and its last four.
import type { CardBehaviour } from '../domain/card.ts';
import type { DeclineCode } from '../domain/gateway-outcome.ts';

export const gatewaySlugs = ['simulator', 'simulator_b'] as const;
export type GatewaySlug = (typeof gatewaySlugs)[number];

export interface CardRow {
  readonly row: 'card';
  readonly id: string;
  readonly gateway: GatewaySlug;
  readonly behaviour: CardBehaviour;
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
  readonly fingerprint: string;
  /** Charges so far; saving the card without one counts as the first. */
  readonly uses: number;
  readonly createdAt: string;
}

export type ChargeStatus = 'captured' | 'authorized' | 'declined' | 'requires_action' | 'cancelled' | 'voided';

export interface ChargeRow {
  readonly row: 'charge';
  readonly id: string;
  readonly gateway: GatewaySlug;
  readonly key: string;
  readonly reference: string;
  readonly status: ChargeStatus;
  /** Null in a tombstone: a key that was cancelled before any charge came with it. */
  readonly card: string | null;
  readonly behaviour: CardBehaviour | null;
  readonly cardLast4: string | null;
  readonly amountMinor: number;
  readonly amountCapturedMinor: number;
  readonly amountRefundedMinor: number;
  /** Held by refunds that are still pending. */
  readonly amountRefundPendingMinor: number;
  readonly currency: string | null;
  readonly capture: boolean;
  readonly initiatedBy: 'cardholder' | 'merchant';
  readonly returnUrl: string | null;
  readonly declineCode: DeclineCode | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type OperationType = 'capture' | 'void' | 'refund';

export interface OperationRow {
  readonly row: 'operation';
  readonly id: string;
  readonly type: OperationType;
  readonly gateway: GatewaySlug;
  readonly key: string;
  readonly reference: string;
  readonly charge: string;
  readonly status: 'succeeded' | 'pending' | 'failed';
  readonly amountMinor: number;
  readonly currency: string | null;
  readonly failureCode: string | null;
  /** When a pending refund ends, and how. */
  readonly settlesAt: string | null;
  readonly settlesAs: 'succeeded' | 'failed' | null;
  readonly behaviour: CardBehaviour | null;
  readonly cardLast4: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type LedgerRow = CardRow | ChargeRow | OperationRow;
