// The two columns every hosted page shares: what it is about on one side, what to do about it on the other.
import type { ComponentChildren } from 'preact';
import { brandSheetPath } from '../brand.ts';
import { Document } from '../document.tsx';
import type { HostedPageProps } from './page-props.ts';

export interface HostedLayoutProps {
  readonly page: HostedPageProps;
  readonly title: string;
  /** Whether this page still asks for a card. */
  readonly asksForCard?: boolean;
  readonly refreshTo?: string | undefined;
  /** The side that says what it is about. */
  readonly about: ComponentChildren;
  readonly children: ComponentChildren;
}

export function HostedLayout({ page, title, asksForCard = false, refreshTo, about, children }: HostedLayoutProps) {
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
        {about}
        <main class="side pay-side" id="main">
          <div class="inner">{children}</div>
        </main>
      </div>
    </Document>
  );
}
