// Opens the card setup an address names and draws its page.
import type { Context } from 'koa';
import { imageOrigins } from '../addresses.ts';
import type { AssetStore } from '../asset-store.ts';
import { newCard } from '../checkout/card-form.ts';
import type { PayFormState } from '../checkout/page-props.ts';
import type { CardSetupView, PagesDeps } from '../deps.ts';
import { makeFormToken } from '../form-guard.ts';
import type { PageSecurity } from '../headers.ts';
import { sendPage } from '../respond.tsx';
import { chooseText, type PageText } from '../text/choose.ts';
import { SetupPage } from './setup-page.tsx';

/** One request to the page of one card setup. */
export interface SetupRequest extends PageText {
  readonly ctx: Context;
  readonly deps: PagesDeps;
  readonly assets: AssetStore;
  readonly view: CardSetupView;
  readonly security: PageSecurity;
}

/** Addresses below a card setup's page. */
export function setupPath(token: string, action?: 'save' | 'cancel'): string {
  return action === undefined ? `/setup/${token}` : `/setup/${token}/${action}`;
}

/** null when the address is no card setup's. */
export async function openSetupRequest(ctx: Context, deps: PagesDeps, assets: AssetStore, token: string): Promise<SetupRequest | null> {
  const view = await deps.setup.openSetup(token);
  if (view === null) return null;
  const security = { mode: view.mode, https: deps.https, imageOrigins: imageOrigins([view.merchant.logoUrl]) };
  return { ctx, deps, assets, view, ...chooseText(null, ctx.get('Accept-Language')), security };
}

/** The page of the setup's phase. `form` is what a refused form comes back with. */
export async function showSetup(request: SetupRequest, status = 200, form: PayFormState = emptyForm(request.view)): Promise<void> {
  const { ctx, deps, assets, view, messages, locale, security } = request;
  const page = (
    <SetupPage
      view={view}
      messages={messages}
      locale={locale}
      assets={assets}
      imageOrigins={security.imageOrigins}
      formToken={makeFormToken(deps.keyRing, view.sessionId)}
      form={form}
      saveAction={setupPath(view.token, 'save')}
      cancelAction={setupPath(view.token, 'cancel')}
    />
  );
  await sendPage(ctx, status, page, security);
}

function emptyForm(view: CardSetupView): PayFormState {
  return { kept: { method: newCard, name: view.customerName ?? '', email: '' }, errors: {}, gatewayUnavailable: false };
}
