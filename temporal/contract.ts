// What the service and its workflows say to each other: names, ids, queues and message shapes. Payloads carry ids, amounts
// and times only, so that Temporal's history and UI can be open to operators. Bundled into workflow code: types and constants.

export const taskQueues = { payments: 'payments', billing: 'billing', webhooks: 'webhooks' } as const;
export type TaskQueue = keyof typeof taskQueues;

/** The queue of another kind of the same installation: queue names are a prefix and a kind. */
export function siblingQueue(queue: string, kind: TaskQueue): string {
  const own = Object.values(taskQueues).find((name) => queue.endsWith(name));
  return queue.slice(0, queue.length - (own?.length ?? 0)) + taskQueues[kind];
}

export const workflowTypes = {
  checkoutSession: 'checkoutSession',
  chargePayment: 'chargePayment',
  capturePayment: 'capturePayment',
  voidPayment: 'voidPayment',
  refundPayment: 'refundPayment',
  lapseAuthorization: 'lapseAuthorization',
  compensateCapture: 'compensateCapture',
  cardSetup: 'cardSetup',
  webhookDelivery: 'webhookDelivery',
  sweep: 'sweep',
} as const;

/** The operations that move money on a payment without a page. */
export const moneyKinds = ['charge', 'capture', 'void', 'refund'] as const;
export type MoneyKind = (typeof moneyKinds)[number];

/** Input of the money workflows; the workflow id is the payment's for a charge, else the operation's. */
export interface MoneyInput {
  readonly kind: MoneyKind;
  /** The attempt, operation or refund. */
  readonly operationId: string;
  readonly transactionId: string;
}

/** How an operation stands after a step. */
export type MoneyResult =
  | { readonly state: 'settled'; readonly outcome: string }
  /** The gateway's answer is not known, or the gateway itself still works on it. UTC milliseconds. */
  | { readonly state: 'waiting'; readonly why: 'unknown' | 'pending'; readonly nextLookAtMs: number };

/** Update of the money workflows: somebody has a reason to look now. */
export const lookUpUpdate = 'lookUp';

/** Input of `compensateCapture`; the workflow id is `{attempt}:late`. */
export interface LateCaptureInput {
  readonly attemptId: string;
}

/** Input of `lapseAuthorization`; the workflow id is `{payment}:lapse`. */
export interface LapseInput {
  readonly transactionId: string;
  /** UTC milliseconds. */
  readonly lapsesAtMs: number;
}

/** Input of `checkoutSession`; the workflow id is the session id. */
export interface CheckoutSessionInput {
  readonly sessionId: string;
  /** UTC milliseconds. */
  readonly expiresAtMs: number;
  /** The workflow was started because nobody moved the session in time: look at its row first. */
  readonly resume?: boolean;
}

/** Update `pay`; the update id is the attempt id. */
export interface PayCommand {
  readonly attemptId: string;
}
/** Update `authenticated`: the customer came back from the bank, or somebody wants to know. */
export interface AuthenticatedCommand {
  readonly attemptId: string;
}
/** Update `cancel`: by the customer's button, or by the merchant who expires the session. */
export interface CancelCommand {
  readonly to: 'cancelled' | 'expired';
}

export const sessionUpdates = { pay: 'pay', authenticated: 'authenticated', cancel: 'cancel' } as const;

/** How an attempt stands after a step, as far as the workflow has to know. */
export type AttemptResult =
  | { readonly state: 'approved' }
  | { readonly state: 'declined' }
  | { readonly state: 'requires_action'; readonly cutOffAtMs: number }
  | { readonly state: 'unknown'; readonly nextLookupAtMs: number }
  /** Surely not charged; the session stays open. */
  | { readonly state: 'unreached' }
  /** The session was not open, or it was too late, or the buyer found no place left. */
  | { readonly state: 'refused' }
  | { readonly state: 'cancelled' };

/** What a money step in a workflow task says of a gateway that may take longer than the task has: claimed, not sent. */
export interface TooSlowForATask {
  readonly state: 'slow';
  /** An earlier run may have sent it. */
  readonly resumed: boolean;
}

/** What cancelling or expiring came to. */
export type EndResult =
  | { readonly state: 'ended'; readonly status: 'cancelled' | 'expired' }
  /** An attempt is in flight: nothing was changed. */
  | { readonly state: 'in_flight'; readonly attemptId: string; readonly attempt: AttemptResult }
  /** Somebody else was first. */
  | { readonly state: 'already'; readonly status: string }
  /** Not due yet: the end of the session moved or the clock differs. */
  | { readonly state: 'early'; readonly expiresAtMs: number };

/** Input of `cardSetup`; the workflow id is the card setup's. */
export interface CardSetupInput {
  readonly setupId: string;
  /** UTC milliseconds. */
  readonly expiresAtMs: number;
}

/** How a card setup stands after somebody tried to end it. */
export type CardSetupEnd =
  | { readonly state: 'over'; readonly status: string }
  /** Nothing was changed: its end has not come, or it has come already and only expiring is left. */
  | { readonly state: 'open'; readonly expiresAtMs: number };

/** Input of `webhookDelivery`; the workflow id is `{delivery id}` for round 1 and `{delivery id}:{round}` later. */
export interface WebhookDeliveryInput {
  readonly deliveryId: string;
  readonly round: number;
  /** UTC milliseconds of the next attempt. */
  readonly nextAttemptAtMs: number;
}

export const sweepScheduleId = 'sweep';
export const sweepEverySeconds = 10;

export const searchAttributes = { merchantId: 'MerchantId', mode: 'Mode', paymentStatus: 'PaymentStatus', nextRunAt: 'NextRunAt' } as const;
