// The pages' addresses and what every one of them goes through: known session, our own form, limits, an HTML answer to
// whatever goes wrong. What a phase allows stands in checkout/phase.ts.
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { DomainError } from '../domain/errors.ts';
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
import type { ErrorPageOptions } from './error-page.tsx';
import { sendErrorPage } from './error-page.tsx';
import { readForm } from './form-body.ts';
import { comesFromElsewhere, isFormTokenValid } from './form-guard.ts';
import { setPageHeaders } from './headers.ts';
import { seeOther } from './respond.tsx';

/** Koa middleware for /checkout/… and /assets/…; every other address goes on to whatever follows. */
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
  router.get('/assets/{*path}', async (ctx) => {
    if (!assets.serve(ctx) && !serveBrandSheet(ctx)) await sendErrorPage(ctx, 'not_found', { https: deps.https, assets });
  });
  router.get('/favicon.ico', (ctx) => ctx.redirect(assets.path('favicon.svg')));
  // A wrong method or a longer path below /checkout gets the same page as an address that is none.
  router.all('/checkout{/*path}', (ctx) => sendErrorPage(ctx, 'not_found', { https: deps.https, assets }));
  return router.routes() as unknown as Middleware;
}

async function answer(ctx: Context, deps: PagesDeps, assets: AssetStore, act: (request: CheckoutRequest) => Promise<void>): Promise<void> {
  const token = String(ctx['params']['token']);
  const options: ErrorPageOptions = { https: deps.https, assets };
  try {
    // A form counts once, against its own limit, when its session is known.
    const waitSeconds = ctx.method === 'POST' ? null : ((await deps.limits?.read(ctx)) ?? null);
    if (waitSeconds !== null) return await sendErrorPage(ctx, 'too_many', { ...options, retryAfterSeconds: waitSeconds });
    const request = await openRequest(ctx, deps, assets, token);
    if (request === null) await sendErrorPage(ctx, 'not_found', options);
    else await act(request);
  } catch (error) {
    const back = { ...options, checkoutPath: checkoutPath(encodeURIComponent(token)) };
    if (error instanceof DomainError && error.code === 'service_unavailable') {
      await sendErrorPage(ctx, 'unavailable', { ...back, retryAfterSeconds: error.detail.retryAfterSeconds ?? 5 });
    } else {
      deps.log.error({ err: error, requestId: ctx.state['requestId'] }, 'a checkout page failed');
      await sendErrorPage(ctx, 'fault', back);
    }
  }
}

/** Cheap refusals first; nothing of the body is read before them. */
async function acceptForm(request: CheckoutRequest, action: CheckoutAction, act: (request: CheckoutRequest, fields: URLSearchParams) => Promise<void>): Promise<void> {
  const { ctx, deps, assets, view, security } = request;
  const refusal: ErrorPageOptions = { https: deps.https, assets, checkoutPath: checkoutPath(view.token) };
  if (comesFromElsewhere(ctx)) return sendErrorPage(ctx, 'forbidden', refusal);
  const waitSeconds = (await deps.limits?.post(ctx, view.sessionId)) ?? null;
  if (waitSeconds !== null) return sendErrorPage(ctx, 'too_many', { ...refusal, retryAfterSeconds: waitSeconds });
  const form = await readForm(ctx);
  if (form.kind !== 'form') return sendErrorPage(ctx, form.kind, refusal);
  if (!isFormTokenValid(deps.keyRing, view.sessionId, form.fields.get('form_token') ?? '')) return sendErrorPage(ctx, 'forbidden', refusal);
  // A payment under way cannot be cancelled: said with a 409 on the page that shows it. Other actions just lead there.
  if (action === 'cancel' && isUnderWay(view.phase)) return showPhase(request, 409);
  if (!phases[view.phase].accepts.includes(action)) return seeOther(ctx, checkoutPath(view.token), security);
  await act(request, form.fields);
}

/** What the waiting page polls. */
async function tellPhase({ ctx, view, security }: CheckoutRequest): Promise<void> {
  setPageHeaders(ctx, security);
  ctx.body = { phase: view.phase };
}
