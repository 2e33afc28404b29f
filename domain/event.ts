// The events that are sent to merchants. Specification: Events.
export const eventNames = [
  'payment.created',
  'payment.completed',
  'payment.authorized',
  'payment.failed',
  'payment.refunded',
  'payment.partially_refunded',
  'payment.refund_failed',
  'payment.voided',
  'checkout_session.completed',
  'checkout_session.expired',
  'checkout.cancelled',
  'subscription.created',
  'subscription.charged',
  'subscription.charge_failed',
  'subscription.cancelled',
  'subscription.updated',
  'endpoint.test',
] as const;
export type EventName = (typeof eventNames)[number];

/** What automation platforms may subscribe to, exactly the specification's nine. */
export const automationEvents = [
  'payment.created',
  'payment.completed',
  'payment.failed',
  'payment.refunded',
  'subscription.created',
  'subscription.charged',
  'subscription.charge_failed',
  'subscription.cancelled',
  'checkout_session.completed',
] as const satisfies readonly EventName[];

export type ResourceType = 'payment' | 'checkout_session' | 'refund' | 'subscription' | 'webhook_endpoint';
export const payloadVersion = 3;
