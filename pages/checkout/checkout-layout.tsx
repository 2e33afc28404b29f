// The two columns every state of a checkout shares: what is paid for on one side, what to do about it on the other.
import type { ComponentChildren } from 'preact';
import { brandSheetPath } from '../brand.ts';
import { Document } from '../document.tsx';
import { OrderSummary } from './order-summary.tsx';
import type { CheckoutPageProps } from './page-props.ts';

export interface CheckoutLayoutProps {
  readonly page: CheckoutPageProps;
  readonly title: string;
  /** Whether this page still asks for a card. */
  readonly asksForCard?: boolean;
  readonly due: boolean;
  readonly refreshTo?: string;
  readonly children: ComponentChildren;
}

export function CheckoutLayout({ page, title, due, asksForCard = false, refreshTo, children }: CheckoutLayoutProps) {
  const { view, messages, assets } = page;
  return (
    <Document
      messages={messages}
      assets={assets}
      title={`${title} · ${view.merchant.name}`}
      brandSheet={brandSheetPath(view.merchant.primaryColor)}
      refreshTo={refreshTo}
      class={asksForCard ? undefined : 'settled'}
    >
      <div class="columns">
        <OrderSummary page={page} due={due} />
        <main class="side pay-side" id="main">
          <div class="inner">{children}</div>
        </main>
      </div>
    </Document>
  );
}
