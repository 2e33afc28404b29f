// The layout of every state of a checkout: beside what to do stands what is paid for.
import type { ComponentChildren } from 'preact';
import { HostedLayout } from './hosted-layout.tsx';
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
  return (
    <HostedLayout page={page} title={title} asksForCard={asksForCard} refreshTo={refreshTo} about={<OrderSummary page={page} due={due} />}>
      {children}
    </HostedLayout>
  );
}
