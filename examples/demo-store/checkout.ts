// An order's way to the checkout and what the service says of it afterwards. The redirect back proves nothing: whether the
// order is paid is asked server to server, and the parcel waits for the webhook.
import type { CreatedSession, NewSession, PaymentApi, Session } from './api.ts';
import type { Order, OrderBook, OrderStatus, Payment } from './orders.ts';
import { findProduct } from './products.ts';

/**
 * The order's checkout session. The key belongs to the order's attempt: pressing twice, or again after a fault, is the
 * same session and the same address.
 */
export async function openCheckout(api: PaymentApi, orders: OrderBook, orderId: string, storeUrl: string): Promise<CreatedSession> {
  const order = orders.tryAgain(orderId);
  const session = await api.createSession(`order-${order.id}-${order.attempt}`, describeOrder(order, storeUrl));
  orders.recordSession(order.id, session.id);
  return session;
}

function describeOrder(order: Order, storeUrl: string): NewSession {
  const name = findProduct(order.sku)?.name ?? order.sku;
  const back = `${storeUrl}/orders/${order.id}`;
  return {
    amount: order.amountMinor,
    currency: order.currency,
    description: `Hillside Coffee: ${name}`,
    line_items: [{ name, quantity: 1, unit_amount: order.amountMinor, sku: order.sku }],
    success_url: `${back}/success`,
    failure_url: `${back}/failure`,
    cancel_url: `${back}/cancel`,
    metadata: { order_id: order.id },
  };
}

/** The order after asking how its session stands; as it is known here when the service does not answer. */
export async function refreshOrder(api: PaymentApi, orders: OrderBook, order: Order, log: (line: string) => void): Promise<Order> {
  if (order.sessionId === null || order.status !== 'awaiting_payment') return order;
  try {
    const session = await api.readSession(order.sessionId);
    orders.learn(order.id, session.id, { status: statusOf(session, order), payment: paymentOf(session) });
  } catch (error) {
    log(`order ${order.id}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return orders.find(order.id) ?? order;
}

function statusOf(session: Session, order: Order): OrderStatus {
  if (session.status === 'open') return 'awaiting_payment';
  if (session.status !== 'completed') return session.status;
  return session.amount === order.amountMinor && session.currency === order.currency ? 'paid' : 'awaiting_payment';
}

function paymentOf(session: Session): Payment | null {
  const { transaction } = session;
  if (session.status !== 'completed' || transaction === null) return null;
  return { transactionId: transaction.id, receiptNumber: transaction.receipt_number, amountMinor: session.amount, currency: session.currency };
}
