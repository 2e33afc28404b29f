// The store's server: shop, checkout, the way back from it, and the webhook. Composed by main.ts and by tests.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openPaymentApi, type PaymentApi } from './api.ts';
import { openCheckout, refreshOrder } from './checkout.ts';
import { ensureEndpoint } from './endpoint.ts';
import { BodyTooLarge, readBody, redirect, send, sendPage, sendText } from './http.ts';
import { type Order, type OrderBook, openOrderBook } from './orders.ts';
import { messagePage, orderPage, shopPage } from './pages.ts';
import { findProduct, products } from './products.ts';
import { verifyWebhook } from './verify.ts';
import { handleEvent } from './webhooks.ts';

export interface StoreOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Origin of the payment service. */
  readonly apiUrl: string;
  readonly apiKey: string;
  /** Where orders and the webhook secret are kept. */
  readonly folder: string;
  /** Absent: the store registers its own webhook endpoint and keeps the secret it is given. */
  readonly webhookSecret?: string;
  readonly log?: (line: string) => void;
}

export interface Store {
  readonly url: string;
  readonly orders: OrderBook;
  close(): Promise<void>;
}

/** @throws ApiError, or a network error, when the webhook endpoint cannot be registered */
export async function startStore(options: StoreOptions): Promise<Store> {
  const api = openPaymentApi(options.apiUrl, options.apiKey);
  const orders = openOrderBook(options.folder);
  const log = options.log ?? (() => undefined);
  const context: Context = { api, orders, log, storeUrl: '', secret: options.webhookSecret ?? null };

  const server = createServer((request, response) => {
    route(context, request, response).catch((error: unknown) => {
      log(`${request.method} ${request.url}: ${error instanceof Error ? error.message : String(error)}`);
      if (response.headersSent) return;
      if (error instanceof BodyTooLarge) return sendText(response, 413, 'too large');
      sendPage(response, 502, messagePage('That did not work', 'The payment service did not answer as expected. Nothing was charged; please try again.'));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  context.storeUrl = `http://localhost:${port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  try {
    // By number: on some machines "localhost" is tried as an IPv6 address first, where nobody listens.
    context.secret ??= await ensureEndpoint(api, { folder: options.folder, apiUrl: options.apiUrl, webhookUrl: `http://127.0.0.1:${port}/webhooks` });
  } catch (error) {
    await close();
    throw error;
  }
  return { url: context.storeUrl, orders, close };
}

interface Context {
  readonly api: PaymentApi;
  readonly orders: OrderBook;
  readonly log: (line: string) => void;
  storeUrl: string;
  /** null until the endpoint is registered: no delivery can be genuine before that. */
  secret: string | null;
}

async function route(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', context.storeUrl);
  const [first = '', id = '', action = ''] = pathname.slice(1).split('/');
  const get = request.method === 'GET';
  const post = request.method === 'POST';
  if (get && pathname === '/') return sendPage(response, 200, shopPage(products, randomUUID));
  if (get && pathname === '/style.css') return send(response, 200, 'text/css; charset=utf-8', readFileSync(new URL('style.css', import.meta.url)));
  if (post && pathname === '/webhooks') return receiveWebhook(context, request, response);
  if (post && pathname === '/orders') return placeOrder(context, request, response);
  const order = first === 'orders' ? context.orders.find(id) : null;
  if (order !== null && post && action === 'pay') return sendToCheckout(context, await refreshed(context, order), response);
  // The three addresses the customer comes back to show one and the same page: what the address says proves nothing.
  if (order !== null && get && ['', 'success', 'failure', 'cancel'].includes(action)) {
    const stranger = searchParams.has('session_id') && searchParams.get('session_id') !== order.sessionId;
    return sendPage(response, 200, orderPage(stranger ? order : await refreshed(context, order)));
  }
  sendPage(response, 404, messagePage('Not found', 'There is nothing at this address.'));
}

async function placeOrder(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = new URLSearchParams((await readBody(request)).toString('utf8'));
  const product = findProduct(form.get('sku') ?? '');
  const id = form.get('order') ?? '';
  if (product === null || !/^[0-9a-f-]{36}$/.test(id)) return sendPage(response, 422, messagePage('Not for sale', 'Please choose something from the shop.'));
  return sendToCheckout(context, context.orders.place(id, product), response);
}

async function sendToCheckout(context: Context, order: Order, response: ServerResponse): Promise<void> {
  if (order.status === 'paid') return redirect(response, `/orders/${order.id}`);
  const session = await openCheckout(context.api, context.orders, order.id, context.storeUrl);
  redirect(response, session.checkout_url);
}

function refreshed(context: Context, order: Order): Promise<Order> {
  return refreshOrder(context.api, context.orders, order, context.log);
}

/** Verify, write down, answer. Anything slow would belong behind a queue: the service waits five seconds for an answer. */
async function receiveWebhook(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  if (context.secret === null) return sendText(response, 503, 'not ready');
  const verdict = verifyWebhook({ body, headers: request.headers, secret: context.secret, nowSeconds: Date.now() / 1000 });
  if (verdict !== 'genuine') {
    context.log(`webhook refused: ${verdict}`);
    return sendText(response, 400, verdict);
  }
  const made = handleEvent(context.orders, body);
  context.log(`webhook ${String(request.headers['x-svc-event'])} ${String(request.headers['x-svc-event-id'])}: ${made}`);
  sendText(response, 200, made);
}
