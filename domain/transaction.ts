// A payment's states and every legal move. `processing` means the gateway's answer is not known yet.
export const transactionStatuses = [
  'pending',
  'requires_action',
  'processing',
  'authorized',
  'captured',
  'partially_refunded',
  'refunded',
  'voided',
  'failed',
  'expired',
] as const;
export type TransactionStatus = (typeof transactionStatuses)[number];

export const transactionTransitions = [
  { from: 'pending', to: 'captured', by: 'gateway approves and captures' },
  { from: 'pending', to: 'authorized', by: 'gateway approves without capture' },
  { from: 'pending', to: 'failed', by: 'gateway declines' },
  { from: 'pending', to: 'requires_action', by: 'gateway asks for authentication' },
  { from: 'pending', to: 'processing', by: 'the answer is lost' },
  { from: 'pending', to: 'expired', by: 'its session ends untried' },
  { from: 'requires_action', to: 'captured', by: 'authentication succeeds' },
  { from: 'requires_action', to: 'authorized', by: 'authentication succeeds without capture' },
  { from: 'requires_action', to: 'failed', by: 'authentication fails' },
  { from: 'requires_action', to: 'processing', by: 'the answer after authentication is lost' },
  { from: 'requires_action', to: 'expired', by: 'the customer never came back' },
  { from: 'processing', to: 'captured', by: 'look-up finds the capture' },
  { from: 'processing', to: 'authorized', by: 'look-up finds the authorisation' },
  { from: 'processing', to: 'failed', by: 'look-up finds a decline, or nothing once that is final' },
  { from: 'processing', to: 'requires_action', by: 'look-up finds a pending authentication' },
  { from: 'processing', to: 'expired', by: 'look-up finds it cancelled' },
  { from: 'authorized', to: 'captured', by: 'capture' },
  { from: 'authorized', to: 'processing', by: 'the answer to a capture or void is lost' },
  { from: 'processing', to: 'voided', by: 'look-up finds the void' },
  { from: 'authorized', to: 'voided', by: 'void' },
  { from: 'authorized', to: 'expired', by: 'not captured within 7 days' },
  { from: 'captured', to: 'partially_refunded', by: 'refund of a part' },
  { from: 'captured', to: 'refunded', by: 'refund of all' },
  { from: 'partially_refunded', to: 'refunded', by: 'refund of the rest' },
] as const satisfies readonly { from: TransactionStatus; to: TransactionStatus; by: string }[];

/** The statuses a payment may be moved to `to` from; the where-clause of every compare-and-set. */
export function statusesBefore(to: TransactionStatus): TransactionStatus[] {
  return transactionTransitions.filter((t) => t.to === to).map((t) => t.from);
}

/** States of one attempt to charge. `requested` is written before Temporal hears of it, `claimed` before the gateway does. */
export const attemptStatuses = ['requested', 'claimed', 'requires_action', 'unknown', 'approved', 'declined', 'unreached', 'refused', 'cancelled'] as const;
export type AttemptStatus = (typeof attemptStatuses)[number];
/** At most one attempt per payment is in one of these (a partial unique index holds it). */
export const openAttemptStatuses = ['requested', 'claimed', 'requires_action', 'unknown'] as const;

/** Milliseconds after which an authorisation nobody captured lapses (ADR 0008). */
export const authorizationLapseMs = 7 * 24 * 60 * 60_000;
/** Refunds a payment may have. */
export const maxRefunds = 50;
