// A refund's states, as merchants see them and as we carry it out. It is final only when it has succeeded or failed.
// docs/states.md is drawn from these tables.
import type { EventName } from './event.ts';

export const refundStatuses = ['pending', 'succeeded', 'failed'] as const;
export type RefundStatus = (typeof refundStatuses)[number];

/** `events`: a refund that is refused in the very answer to its request is told there, by no event. */
export const refundTransitions = [
  { from: 'pending', to: 'succeeded', by: 'gateway gives the money back', events: ['payment.refunded', 'payment.partially_refunded'] },
  { from: 'pending', to: 'failed', by: 'gateway refuses, or nothing of it is found once that is final', events: ['payment.refund_failed'] },
] as const satisfies readonly { from: RefundStatus; to: RefundStatus; by: string; events: readonly EventName[] }[];

/** Where a pending refund stands: written, on its way, answer lost, taken by the gateway; and over. */
export const refundSteps = ['requested', 'claimed', 'unknown', 'at_gateway', 'settled'] as const;
export type RefundStep = (typeof refundSteps)[number];
