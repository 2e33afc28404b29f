// The pages' addresses: checkouts, card setups, assets. What each request goes through is in gate.ts, what a phase of a
// checkout allows in checkout/phase.ts.
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { AssetStore } from './asset-store.ts';
import { loadAssets } from './asset-store.ts';
import { serveBrandSheet } from './brand.ts';
import { moveOn, cancel } from './checkout/leave.ts';
import { openRequest, showPhase } from './checkout/open-page.tsx';
import type { CheckoutRequest } from './checkout/open-page.tsx';
import { checkoutPath } from './checkout/page-props.ts';
import { pay } from './checkout/pay.ts';
import type { CheckoutAction } from './checkout/phase.ts';
import { isUnderWay, phases } from './checkout/phase.ts';
import type { PagesDeps } from './deps.ts';
import { sendErrorPage } from './error-page.tsx';
import { answerPage, readOwnForm } from './gate.ts';
import { setPageHeaders } from './headers.ts';
import { seeOther } from './respond.tsx';
import { addSetupRoutes } from './setup/routes.ts';

/** Koa middleware for /checkout/…, /setup/… and /assets/…; every other address goes on to whatever follows. */
export function createPagesRouter(deps: PagesDeps): Middleware {
  const assets = loadAssets();
  const router = new Router();
  const get = (path: string, show: (request: CheckoutRequest) => Promise<void>) => router.get(path, (ctx) => answer(ctx, deps, assets, show));
  const post = (action: CheckoutAction, act: (request: CheckoutRequest, fields: URLSearchParams) => Promise<void>) =>
    router.post(`/checkout/:token/${action}`, (ctx) => answer(ctx, deps, assets, (request) => acceptForm(request, action, act)));

  get('/checkout/:token', (request) => showPhase(request));
  get('/checkout/:token/status', tellPhase);
  get('/checkout/:token/return', moveOn);
  post('pay', pay);
  post('cancel', cancel);
  post('check', moveOn);
  addSetupRoutes(router, deps, assets);
  router.get('/assets/{*path}', async (ctx) => {
    if (!assets.serve(ctx) && !serveBrandSheet(ctx)) await sendErrorPage(ctx, 'not_found', { https: deps.https, assets });
  });
  router.get('/favicon.ico', (ctx) => ctx.redirect(assets.path('favicon.svg')));
  // A wrong method or a longer path below a page gets the same answer as an address that is none.
  for (const below of ['/checkout{/*path}', '/setup{/*path}']) router.all(below, (ctx) => sendErrorPage(ctx, 'not_found', { https: deps.https, assets }));
  return router.routes() as unknown as Middleware;
}

function answer(ctx: Context, deps: PagesDeps, assets: AssetStore, act: (request: CheckoutRequest) => Promise<void>): Promise<void> {
  const token = String(ctx['params']['token']);
  return answerPage({ ctx, deps, assets }, checkoutPath(encodeURIComponent(token)), () => openRequest(ctx, deps, assets, token), act);
}

async function acceptForm(request: CheckoutRequest, action: CheckoutAction, act: (request: CheckoutRequest, fields: URLSearchParams) => Promise<void>): Promise<void> {
  const { ctx, view, security } = request;
  const fields = await readOwnForm(request, view.sessionId, checkoutPath(view.token));
  if (fields === null) return;
  // A payment under way cannot be cancelled: said with a 409 on the page that shows it. Other actions just lead there.
  if (action === 'cancel' && isUnderWay(view.phase)) return showPhase(request, 409);
  if (!phases[view.phase].accepts.includes(action)) return seeOther(ctx, checkoutPath(view.token), security);
  await act(request, fields);
}

/** What the waiting page polls. */
async function tellPhase({ ctx, view, security }: CheckoutRequest): Promise<void> {
  setPageHeaders(ctx, security);
  ctx.body = { phase: view.phase };
}
