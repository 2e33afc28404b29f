// What a page says once it is over, and the link back to the merchant. Asks nothing.
import type { ComponentChildren } from 'preact';
import { safeHref } from '../addresses.ts';
import type { HostedPageProps } from './page-props.ts';
import { StatusIcon } from './status-icon.tsx';

export interface OverSectionProps {
  readonly page: HostedPageProps;
  readonly kind: 'done' | 'refused' | 'expired' | 'cancelled';
  readonly title: string;
  readonly text: string;
  /** Where the customer leaves to. */
  readonly back: string | null;
  readonly children?: ComponentChildren;
}

export function OverSection({ page, kind, title, text, back, children }: OverSectionProps) {
  const href = safeHref(back);
  return (
    <section class={`status status-${kind}`}>
      <StatusIcon kind={kind} />
      <h2>{title}</h2>
      <p>{text}</p>
      {children}
      {href !== undefined && (
        <a class="button" href={href}>
          {page.messages.backTo(page.view.merchant.name)}
        </a>
      )}
    </section>
  );
}

/** One line of a `dl.facts`. */
export function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}
