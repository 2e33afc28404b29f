// The store's pages as text: what it sells, and how an order stands. Everything that is not ours is escaped.
import type { Order } from './orders.ts';
import { findProduct, type Product } from './products.ts';

/** @param newOrderId makes the id an order will have if its button is pressed: a second press means the same order */
export function shopPage(products: readonly Product[], newOrderId: () => string): string {
  const cards = products.map(
    (product) => `<li class="card">
      ${drawing(product)}
      <h2>${escape(product.name)}</h2>
      <p>${escape(product.description)}</p>
      <form method="post" action="/orders">
        <input type="hidden" name="order" value="${escape(newOrderId())}">
        <input type="hidden" name="sku" value="${escape(product.sku)}">
        <span class="price">${money(product.priceMinor, product.currency)}</span>
        <button>Buy<span class="aside"> ${escape(product.name)}</span></button>
      </form>
    </li>`,
  );
  return page('Hillside Coffee', `<h1>Good coffee, plainly sold</h1><p class="lead">A demonstration store. No card is ever charged.</p><ul class="cards">${cards.join('')}</ul>`);
}

export function orderPage(order: Order): string {
  const product = findProduct(order.sku);
  const view = views[viewOf(order)];
  const row = (label: string, value: string | null): string => (value === null ? '' : `<div><dt>${label}</dt><dd>${escape(value)}</dd></div>`);
  const body = `<article class="order" data-status="${order.status}" data-fulfilled="${order.fulfilledAt !== null}">
    <p class="badge ${view.tone}">${view.badge}</p>
    <h1>${view.title}</h1>
    <p class="lead">${view.text}</p>
    <dl>
      ${row('Item', product?.name ?? order.sku)}
      <div><dt>Total</dt><dd>${money(order.amountMinor, order.currency)}</dd></div>
      ${row('Receipt', order.receiptNumber)}
      ${row('Order', order.id)}
    </dl>
    ${view.payable ? `<form method="post" action="/orders/${escape(order.id)}/pay"><button>${view.payable}</button></form>` : ''}
    <p><a href="/">Back to the shop</a></p>
  </article>`;
  return page(view.title, body, view.refreshes);
}

/** A plain message: something is not there or does not work just now. */
export function messagePage(title: string, text: string): string {
  return page(title, `<article class="order"><h1>${escape(title)}</h1><p class="lead">${escape(text)}</p><p><a href="/">Back to the shop</a></p></article>`);
}

type View = 'packed' | 'paid' | 'awaiting_payment' | 'failed' | 'cancelled' | 'expired';

function viewOf(order: Order): View {
  return order.status === 'paid' && order.fulfilledAt !== null ? 'packed' : order.status;
}

const views: Readonly<Record<View, { badge: string; tone: string; title: string; text: string; payable?: string; refreshes?: boolean }>> = {
  packed: { badge: 'Paid', tone: 'good', title: 'Thank you, it is on its way', text: 'Your payment arrived and your parcel is packed.' },
  paid: { badge: 'Paid', tone: 'good', title: 'Thank you', text: 'Your payment arrived. We are packing your parcel.', refreshes: true },
  awaiting_payment: { badge: 'Not paid yet', tone: 'open', title: 'Waiting for your payment', text: 'If you have just paid, this page will know in a moment.', payable: 'Continue to payment', refreshes: true },
  failed: { badge: 'Not paid', tone: 'bad', title: 'The payment did not go through', text: 'Nothing was charged. You can try again with another card.', payable: 'Try again' },
  cancelled: { badge: 'Not paid', tone: 'bad', title: 'You left the checkout', text: 'Nothing was charged. The order is still here if you change your mind.', payable: 'Pay now' },
  expired: { badge: 'Not paid', tone: 'bad', title: 'The checkout took too long', text: 'Nothing was charged. Start again whenever you like.', payable: 'Start again' },
};

function page(title: string, body: string, refreshes = false): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
${refreshes ? '<meta http-equiv="refresh" content="3">' : ''}<title>${escape(title)} · Hillside Coffee</title><link rel="stylesheet" href="/style.css"><link rel="icon" href="data:,"></head>
<body><header><a href="/">Hillside Coffee</a><span>Demo store</span></header><main>${body}</main></body></html>`;
}

function drawing(product: Product): string {
  return `<svg viewBox="0 0 96 96" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linejoin="round" stroke-linecap="round">${product.drawing}</svg>`;
}

/** The currency's own number of decimals, and its code: more than one currency prints as "$". */
function money(amountMinor: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'code' });
  return escape(format.format(amountMinor / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2)));
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
