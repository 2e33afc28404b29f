// The pages of a session that is not waiting for a card: under way, at the bank, or over. None of them can charge.
import { safeHref } from '../addresses.ts';
import { brandName } from './card-brand.ts';
import { CheckoutLayout } from './checkout-layout.tsx';
import { toneOf } from './decline.ts';
import { Fact, OverSection, type OverSectionProps } from './over-section.tsx';
import { checkoutPath } from './page-props.ts';
import type { CheckoutPageProps } from './page-props.ts';
import { StatusIcon } from './status-icon.tsx';
import { wayBack } from './way-back.ts';

export function ProcessingPage(page: CheckoutPageProps) {
  const { view, messages } = page;
  const { title, text, again } = messages.processing;
  const next = checkoutPath(view.token, 'return');
  return (
    <CheckoutLayout page={page} title={title} due refreshTo={next}>
      <section class="status" data-poll={checkoutPath(view.token, 'status')} data-phase={view.phase} data-next={next}>
        <StatusIcon kind="waiting" />
        <h2>{title}</h2>
        <p role="status">{text}</p>
        <a class="button secondary" href={next}>
          {again}
        </a>
      </section>
    </CheckoutLayout>
  );
}

export function ActionPage(page: CheckoutPageProps) {
  const { view, messages } = page;
  const { title, text, go, check } = messages.action;
  const bank = safeHref(view.actionUrl);
  return (
    <CheckoutLayout page={page} title={title} due>
      <section class="status">
        <StatusIcon kind="bank" />
        <h2>{title}</h2>
        <p>{text}</p>
        {bank !== undefined && (
          <a class="button" href={bank}>
            {go}
          </a>
        )}
        <form method="post" action={checkoutPath(view.token, 'check')}>
          <input type="hidden" name="form_token" value={page.formToken} />
          <button class="secondary" type="submit">
            {check}
          </button>
        </form>
      </section>
    </CheckoutLayout>
  );
}

export function PaidPage(page: CheckoutPageProps) {
  const { view, messages, amount } = page;
  return (
    <OverPage page={page} kind="done" title={messages.paid.title} text={messages.paid.text(view.merchant.name)}>
      <dl class="facts">
        <Fact label={messages.amount} value={amount.text(view.amountMinor)} />
        {view.card !== null && <Fact label={messages.card} value={messages.cardEnding(brandName(view.card.brand), view.card.last4)} />}
        {view.receiptNumber !== null && <Fact label={messages.receipt} value={view.receiptNumber} />}
      </dl>
    </OverPage>
  );
}

export function FailedPage(page: CheckoutPageProps) {
  const { view, messages } = page;
  return (
    <OverPage page={page} kind="refused" title={messages.failed.title} text={messages.declines[toneOf(view.failure?.declineCode ?? null)]}>
      <p>{messages.failed.again}</p>
    </OverPage>
  );
}

export function ExpiredPage(page: CheckoutPageProps) {
  const { view, messages } = page;
  return <OverPage page={page} kind="expired" title={messages.expired.title} text={messages.expired.text(view.merchant.name)} />;
}

export function CancelledPage(page: CheckoutPageProps) {
  const { messages } = page;
  return <OverPage page={page} kind="cancelled" title={messages.cancelled.title} text={messages.cancelled.text} />;
}

interface OverProps extends Omit<OverSectionProps, 'page' | 'back'> {
  readonly page: CheckoutPageProps;
}

function OverPage({ page, kind, title, text, children }: OverProps) {
  return (
    <CheckoutLayout page={page} title={title} due={false}>
      <OverSection page={page} kind={kind} title={title} text={text} back={wayBack(page.view)}>
        {children}
      </OverSection>
    </CheckoutLayout>
  );
}
