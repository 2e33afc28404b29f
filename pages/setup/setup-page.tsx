// The page that saves a card without charging it: the form while it is open, and what became of it afterwards.
import { brandName } from '../checkout/card-brand.ts';
import { AfterForm, BeforeForm, CardEntry, titleOfForm } from '../checkout/card-entry.tsx';
import { HostedLayout } from '../checkout/hosted-layout.tsx';
import { Merchant } from '../checkout/merchant.tsx';
import { Fact, OverSection, type OverSectionProps } from '../checkout/over-section.tsx';
import type { HostedPageProps } from '../checkout/page-props.ts';
import { wayBack } from '../checkout/way-back.ts';
import type { CardSetupView } from '../deps.ts';

export interface SetupPageProps extends HostedPageProps {
  readonly view: CardSetupView;
  readonly saveAction: string;
  readonly cancelAction: string;
}

const signs: Readonly<Record<Exclude<CardSetupView['phase'], 'open'>, OverSectionProps['kind']>> = {
  completed: 'done',
  failed: 'refused',
  expired: 'expired',
  cancelled: 'cancelled',
};

export function SetupPage(page: SetupPageProps) {
  const { phase } = page.view;
  return phase === 'open' ? <OpenPage page={page} /> : <OverPage page={page} phase={phase} />;
}

function OpenPage({ page }: { page: SetupPageProps }) {
  const { view, messages } = page;
  const { setup } = messages;
  return (
    <HostedLayout page={page} title={titleOfForm(page, setup.title(view.merchant.name))} asksForCard about={<About page={page} />}>
      <h2>{setup.details}</h2>
      <BeforeForm page={page} unreached={setup.notSaved} />
      <CardEntry page={page} action={page.saveAction} label={setup.save} notice={messages.saveNotice(view.merchant.name)} />
      <AfterForm page={page} cancelAction={page.cancelAction} cancelLabel={setup.cancel} />
    </HostedLayout>
  );
}

function OverPage({ page, phase }: { page: SetupPageProps; phase: Exclude<CardSetupView['phase'], 'open'> }) {
  const { view, messages } = page;
  const { title, text } = messages.setup.over[phase];
  return (
    <HostedLayout page={page} title={title} about={<About page={page} />}>
      <OverSection page={page} kind={signs[phase]} title={title} text={text(view.merchant.name)} back={wayBack(view)}>
        {view.card !== null && (
          <dl class="facts">
            <Fact label={messages.card} value={messages.cardEnding(brandName(view.card.brand), view.card.last4)} />
          </dl>
        )}
      </OverSection>
    </HostedLayout>
  );
}

function About({ page }: { page: SetupPageProps }) {
  const { view, messages } = page;
  return (
    <aside class="side order-side" aria-labelledby="about">
      <div class="inner">
        <Merchant page={page} />
        <h1 id="about" class={view.phase === 'open' ? 'about' : 'visually-hidden'}>
          {messages.setup.title(view.merchant.name)}
        </h1>
        {view.phase === 'open' && <p class="description">{messages.setup.nothingDue}</p>}
      </div>
    </aside>
  );
}
