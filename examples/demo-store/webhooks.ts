// What the store does with each event. Answers nothing itself: whoever receives the request says 200 when this returns.
import type { OrderBook } from './orders.ts';

/** The parts of an event this store reads. */
interface WebhookEvent {
  readonly id: string;
  readonly event: string;
  readonly data: {
    readonly id: string;
    readonly amount: number;
    readonly currency: string;
    readonly receipt_number?: string;
    /** On payment events the id of the checkout session. */
    readonly order_id?: string;
    readonly metadata: { readonly order_id?: string };
    readonly failure?: { readonly decline_code: string | null };
  };
}

/**
 * @param body a verified body. Events can come twice, late and in any order: every branch may run again.
 * @returns what was made of it, for the log
 */
export function handleEvent(orders: OrderBook, body: Buffer): string {
  const { event, data } = JSON.parse(body.toString('utf8')) as WebhookEvent;
  const orderId = data.metadata?.order_id ?? '';
  switch (event) {
    case 'payment.completed':
      return orders.fulfil(orderId, { transactionId: data.id, amountMinor: data.amount, currency: data.currency, receiptNumber: data.receipt_number ?? '' });
    case 'payment.failed':
      orders.learn(orderId, data.order_id ?? '', { status: 'failed', declineCode: data.failure?.decline_code ?? null });
      return 'noted';
    case 'checkout.cancelled':
      orders.learn(orderId, data.id, { status: 'cancelled' });
      return 'noted';
    case 'checkout_session.expired':
      orders.learn(orderId, data.id, { status: 'expired' });
      return 'noted';
    default:
      // New kinds of events must not make deliveries fail.
      return 'ignored';
  }
}
