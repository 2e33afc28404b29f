// What every hosted page and form goes through: limits, a known address, our own form, an HTML answer to whatever goes wrong.
// Knows no page; what a phase allows is the page's own table.
import type { Context } from 'koa';
import { DomainError } from '../domain/errors.ts';
import type { AssetStore } from './asset-store.ts';
import type { PagesDeps } from './deps.ts';
import { type ErrorPageOptions, sendErrorPage } from './error-page.tsx';
import { readForm } from './form-body.ts';
import { comesFromElsewhere, isFormTokenValid } from './form-guard.ts';

/** One request on its way to a page. */
export interface Visit {
  readonly ctx: Context;
  readonly deps: PagesDeps;
  readonly assets: AssetStore;
}

/**
 * @param path of the page itself, for a way back from an error
 * @param open null when the address is nobody's
 */
export async function answerPage<Request>(visit: Visit, path: string, open: () => Promise<Request | null>, act: (request: Request) => Promise<void>): Promise<void> {
  const { ctx, deps, assets } = visit;
  const options: ErrorPageOptions = { https: deps.https, assets };
  try {
    // A form counts once, against its own limit, when its session is known.
    const waitSeconds = ctx.method === 'POST' ? null : ((await deps.limits?.read(ctx)) ?? null);
    if (waitSeconds !== null) return await sendErrorPage(ctx, 'too_many', { ...options, retryAfterSeconds: waitSeconds });
    const request = await open();
    if (request === null) await sendErrorPage(ctx, 'not_found', options);
    else await act(request);
  } catch (error) {
    const back = { ...options, checkoutPath: path };
    if (error instanceof DomainError && error.code === 'service_unavailable') {
      await sendErrorPage(ctx, 'unavailable', { ...back, retryAfterSeconds: error.detail.retryAfterSeconds ?? 5 });
    } else {
      deps.log.error({ err: error, requestId: ctx.state['requestId'] }, 'a hosted page failed');
      await sendErrorPage(ctx, 'fault', back);
    }
  }
}

/**
 * Cheap refusals first; nothing of the body is read before them.
 * @param sessionId whose form it is
 * @returns the fields, or null when the form was refused and answered
 */
export async function readOwnForm({ ctx, deps, assets }: Visit, sessionId: string, path: string): Promise<URLSearchParams | null> {
  const refusal: ErrorPageOptions = { https: deps.https, assets, checkoutPath: path };
  const refuse = async (...[kind, options]: [Parameters<typeof sendErrorPage>[1], object?]): Promise<null> => {
    await sendErrorPage(ctx, kind, { ...refusal, ...options });
    return null;
  };
  if (comesFromElsewhere(ctx)) return refuse('forbidden');
  const waitSeconds = (await deps.limits?.post(ctx, sessionId)) ?? null;
  if (waitSeconds !== null) return refuse('too_many', { retryAfterSeconds: waitSeconds });
  const form = await readForm(ctx);
  if (form.kind !== 'form') return refuse(form.kind);
  return isFormTokenValid(deps.keyRing, sessionId, form.fields.get('form_token') ?? '') ? form.fields : refuse('forbidden');
}
