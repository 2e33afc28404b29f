// The store's own memory: orders, and which payments have been fulfilled, in one JSON file. An order moves here and nowhere
// else; every change is on disk before anybody is told of it.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Product } from './products.ts';
import { writeWhole } from './state-file.ts';

export type OrderStatus = 'awaiting_payment' | 'paid' | 'failed' | 'cancelled' | 'expired';

export interface Order {
  readonly id: string;
  readonly sku: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly status: OrderStatus;
  /** Counts up when the customer tries again after a failure; part of the idempotency key. */
  readonly attempt: number;
  readonly sessionId: string | null;
  readonly transactionId: string | null;
  readonly receiptNumber: string | null;
  readonly declineCode: string | null;
  /** When the parcel was packed; set by the webhook alone. */
  readonly fulfilledAt: string | null;
  readonly createdAt: string;
}

/** A captured payment as the service told us of it. */
export interface Payment {
  readonly transactionId: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly receiptNumber: string;
}

export type Fulfilment = 'fulfilled' | 'repeated' | 'unknown_order' | 'wrong_amount' | 'paid_twice';

interface Contents {
  orders: Record<string, Order>;
  /** Transaction id → order id: what makes a delivery that comes twice harmless. */
  fulfilled: Record<string, string>;
}

export interface OrderBook {
  find(id: string): Order | null;
  all(): Order[];
  /** The same id again gives the order that is already there. */
  place(id: string, product: Product): Order;
  /** Begins the next attempt of an order that can still be paid. */
  tryAgain(id: string): Order;
  recordSession(id: string, sessionId: string): void;
  /** What the customer is shown. News of an earlier session, or of a paid order, changes nothing. */
  learn(id: string, sessionId: string, news: { status: OrderStatus; declineCode?: string | null; payment?: Payment | null }): void;
  /** Sends the parcel, once per transaction however often it is called. */
  fulfil(id: string, payment: Payment): Fulfilment;
}

/** @param folder made when it is not there. One process only: the file is read once. */
export function openOrderBook(folder: string): OrderBook {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'orders.json');
  const contents = read(file);

  // Nothing is awaited between reading and writing, so two requests cannot come between each other.
  const put = (order: Order): Order => {
    contents.orders[order.id] = order;
    writeWhole(file, contents);
    return order;
  };
  const find = (id: string): Order | null => (Object.hasOwn(contents.orders, id) ? (contents.orders[id] ?? null) : null);
  const get = (id: string): Order => {
    const order = find(id);
    if (order === null) throw new Error(`no order ${id}`);
    return order;
  };

  return {
    find,
    all: () => Object.values(contents.orders),
    place(id, product) {
      const known = find(id);
      if (known !== null) return known;
      return put({
        id,
        sku: product.sku,
        amountMinor: product.priceMinor,
        currency: product.currency,
        status: 'awaiting_payment',
        attempt: 1,
        sessionId: null,
        transactionId: null,
        receiptNumber: null,
        declineCode: null,
        fulfilledAt: null,
        createdAt: new Date().toISOString(),
      });
    },
    tryAgain(id) {
      const order = get(id);
      if (order.status === 'paid' || order.status === 'awaiting_payment') return order;
      return put({ ...order, status: 'awaiting_payment', attempt: order.attempt + 1, sessionId: null, declineCode: null });
    },
    recordSession(id, sessionId) {
      put({ ...get(id), sessionId });
    },
    learn(id, sessionId, news) {
      const order = find(id);
      if (order === null || order.sessionId !== sessionId || order.status === 'paid' || order.status === news.status) return;
      const paid = news.payment ? { transactionId: news.payment.transactionId, receiptNumber: news.payment.receiptNumber } : {};
      put({ ...order, ...paid, status: news.status, declineCode: news.declineCode ?? null });
    },
    fulfil(id, payment) {
      if (Object.hasOwn(contents.fulfilled, payment.transactionId)) return 'repeated';
      const order = find(id);
      if (order === null) return 'unknown_order';
      if (payment.amountMinor !== order.amountMinor || payment.currency !== order.currency) return 'wrong_amount';
      // A second session of the same order was paid too: the money came, but there is one parcel. Somebody has to refund.
      if (order.fulfilledAt !== null) return 'paid_twice';
      contents.fulfilled[payment.transactionId] = id;
      const { transactionId, receiptNumber } = payment;
      put({ ...order, status: 'paid', transactionId, receiptNumber, declineCode: null, fulfilledAt: new Date().toISOString() });
      return 'fulfilled';
    },
  };
}

function read(file: string): Contents {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Contents;
  } catch (error) {
    // Only an absent file is an empty book: starting over a damaged one would send parcels twice.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { orders: {}, fulfilled: {} };
    throw error;
  }
}
