// Opens the session an address names and draws the page of its phase: the one place that applies the table in phase.ts.
import type { Context } from 'koa';
import { imageOrigins } from '../addresses.ts';
import type { AssetStore } from '../asset-store.ts';
import type { CheckoutView, PagesDeps } from '../deps.ts';
import { makeFormToken } from '../form-guard.ts';
import type { PageSecurity } from '../headers.ts';
import { sendPage } from '../respond.tsx';
import { amountFormat } from '../text/amount.ts';
import { chooseText } from '../text/choose.ts';
import type { Messages } from '../text/messages.ts';
import { newCard } from './card-form.ts';
import type { PayFormState } from './page-props.ts';
import { phases } from './phase.ts';

/** One request to the pages of one session. */
export interface CheckoutRequest {
  readonly ctx: Context;
  readonly deps: PagesDeps;
  readonly assets: AssetStore;
  readonly view: CheckoutView;
  readonly messages: Messages;
  /** For Intl. */
  readonly locale: string;
  readonly security: PageSecurity;
}

/** null when the address is no session's. */
export async function openRequest(ctx: Context, deps: PagesDeps, assets: AssetStore, token: string): Promise<CheckoutRequest | null> {
  const view = await deps.checkout.openCheckout(token);
  if (view === null) return null;
  const origins = imageOrigins([view.merchant.logoUrl, ...view.lineItems.map((line) => line.imageUrl)]);
  const text = chooseText(view.locale, ctx.get('Accept-Language'));
  return { ctx, deps, assets, view, ...text, security: { mode: view.mode, https: deps.https, imageOrigins: origins } };
}

/** The page of the session's phase. `form` is what a refused pay form comes back with. */
export async function showPhase(request: CheckoutRequest, status = 200, form: PayFormState = emptyForm(request.view)): Promise<void> {
  const { ctx, deps, assets, view, messages, locale, security } = request;
  const Page = phases[view.phase].page;
  const formToken = makeFormToken(deps.keyRing, view.sessionId);
  const page = (
    <Page
      view={view}
      messages={messages}
      locale={locale}
      amount={amountFormat(view.currency, locale)}
      assets={assets}
      imageOrigins={security.imageOrigins}
      formToken={formToken}
      form={form}
    />
  );
  await sendPage(ctx, status, page, security);
}

function emptyForm(view: CheckoutView): PayFormState {
  const kept = { method: view.savedCards[0]?.id ?? newCard, name: view.customer?.name ?? '', email: view.customer?.email ?? '' };
  return { kept, errors: {}, gatewayUnavailable: false };
}
