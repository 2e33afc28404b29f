// The addresses of a card setup's page: showing it, saving the card, cancelling.
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { AssetStore } from '../asset-store.ts';
import type { PagesDeps } from '../deps.ts';
import { answerPage, readOwnForm } from '../gate.ts';
import { seeOther } from '../respond.tsx';
import { openSetupRequest, setupPath, type SetupRequest, showSetup } from './open-page.tsx';
import { cancelSetup, saveCard } from './save.ts';

export function addSetupRoutes(router: Router, deps: PagesDeps, assets: AssetStore): void {
  const answer = (ctx: Context, act: (request: SetupRequest) => Promise<void>): Promise<void> => {
    const token = String(ctx['params']['token']);
    return answerPage({ ctx, deps, assets }, setupPath(encodeURIComponent(token)), () => openSetupRequest(ctx, deps, assets, token), act);
  };
  router.get('/setup/:token', (ctx) => answer(ctx, (request) => showSetup(request)));
  router.post('/setup/:token/save', (ctx) => answer(ctx, (request) => acceptForm(request, saveCard)));
  router.post('/setup/:token/cancel', (ctx) => answer(ctx, (request) => acceptForm(request, cancelSetup)));
}

async function acceptForm(request: SetupRequest, act: (request: SetupRequest, fields: URLSearchParams) => Promise<void>): Promise<void> {
  const { ctx, view, security } = request;
  const fields = await readOwnForm(request, view.sessionId, setupPath(view.token));
  if (fields === null) return;
  // What is over is shown as it is, whatever a form asks.
  if (view.phase !== 'open') return seeOther(ctx, setupPath(view.token), security);
  await act(request, fields);
}
