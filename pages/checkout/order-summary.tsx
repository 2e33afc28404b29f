// The merchant, the lines, the total. Shows what the session says, charges nothing, asks nothing.
import { admittedImage } from '../addresses.ts';
import type { CheckoutLine } from '../deps.ts';
import { Amount } from './amount.tsx';
import { Merchant } from './merchant.tsx';
import type { CheckoutPageProps } from './page-props.ts';
import { summarise } from './summary.ts';

/** Longer orders fold: the button to pay should not be a mile below the merchant's name on a phone. */
const linesShown = 5;

export function OrderSummary({ page, due }: { page: CheckoutPageProps; due: boolean }) {
  const { view, messages, amount } = page;
  const summary = summarise(view);
  const itemised = view.lineItems.length > 0 || Object.values(summary).some((minor) => minor !== null);
  const shown = view.lineItems.length <= linesShown + 1 ? view.lineItems : view.lineItems.slice(0, linesShown);
  const folded = view.lineItems.slice(shown.length);
  return (
    <aside class="side order-side" aria-labelledby="order">
      <div class="inner">
        <Merchant page={page} />
        <h1 id="order" class="visually-hidden">
          {messages.payTitle(view.merchant.name)}
        </h1>
        <p class="total-label">{due ? messages.totalDue : messages.total}</p>
        <p class="total-amount">
          <Amount format={amount} minor={view.amountMinor} />
        </p>
        {view.description !== null && <p class="description">
            <bdi>{view.description}</bdi>
          </p>}
        {shown.length > 0 && <Lines lines={shown} page={page} />}
        {folded.length > 0 && (
          <details class="more">
            <summary>{messages.moreItems(new Intl.NumberFormat(page.locale).format(folded.length))}</summary>
            <Lines lines={folded} page={page} />
          </details>
        )}
        {itemised && (
          <dl class="sums">
            {summary.subtotalMinor !== null && <Sum label={messages.subtotal} minor={summary.subtotalMinor} page={page} />}
            {summary.taxMinor !== null && <Sum label={taxLabel(page)} minor={summary.taxMinor} page={page} />}
            {summary.otherMinor !== null && <Sum label={messages.other} minor={summary.otherMinor} page={page} />}
            <Sum label={messages.total} minor={view.amountMinor} page={page} total />
          </dl>
        )}
      </div>
    </aside>
  );
}

function Lines({ lines, page }: { lines: readonly CheckoutLine[]; page: CheckoutPageProps }) {
  return (
    <ul class="lines">
      {lines.map((line) => {
        const image = admittedImage(line.imageUrl, page.imageOrigins);
        return (
          <li class="line">
            {image !== null && <img class="line-image" src={image} alt="" width="44" height="44" loading="lazy" />}
            <div class="line-text">
              <span class="line-name">
                <bdi>{line.name}</bdi>
              </span>
              {line.description !== null && <span class="line-note">
                  <bdi>{line.description}</bdi>
                </span>}
              {line.quantity > 1 && (
                <span class="line-note">
                  {page.messages.quantity(new Intl.NumberFormat(page.locale).format(line.quantity), page.amount.text(line.unitAmountMinor))}
                </span>
              )}
            </div>
            <Amount format={page.amount} minor={line.quantity * line.unitAmountMinor} />
          </li>
        );
      })}
    </ul>
  );
}

function Sum({ label, minor, page, total }: { label: string; minor: number; page: CheckoutPageProps; total?: boolean }) {
  return (
    <div class={total === true ? 'sum sum-total' : 'sum'}>
      <dt>
        <bdi>{label}</bdi>
      </dt>
      <dd>
        <Amount format={page.amount} minor={minor} />
      </dd>
    </div>
  );
}

function taxLabel({ view, messages, locale }: CheckoutPageProps): string {
  const name = view.taxName ?? messages.tax;
  if (view.taxRate === null) return name;
  return `${name} (${new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 3 }).format(view.taxRate)})`;
}
