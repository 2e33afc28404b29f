// The ways off the page that are not paying: cancelling, coming back from the bank, and asking once more.
import type { PayResult } from '../deps.ts';
import { seeOther } from '../respond.tsx';
import { type CheckoutRequest, showPhase } from './open-page.tsx';
import { checkoutPath } from './page-props.ts';
import { wayBack } from './way-back.ts';

/** POST /checkout/{token}/cancel. Refused while a payment is under way: then the page shows that. */
export async function cancel(request: CheckoutRequest): Promise<void> {
  const { ctx, deps, view, security } = request;
  if (view.cancelUrl === null) return seeOther(ctx, checkoutPath(view.token), security);
  const result = await deps.checkout.cancelCheckout(view.token);
  if (result.kind === 'in_flight') {
    // Somebody began to pay between the page and this click: read again, so that the answer shows what is under way.
    const current = await deps.checkout.openCheckout(view.token);
    return showPhase({ ...request, view: current ?? view }, 409);
  }
  seeOther(ctx, result.kind === 'redirect' ? result.to : checkoutPath(view.token), security);
}

/**
 * GET /checkout/{token}/return, where the bank and the waiting page lead, and POST /checkout/{token}/check. On to the
 * shop when the session is over, else back to its page. Any number of calls is harmless: it only looks.
 */
export async function moveOn({ ctx, deps, view, security }: CheckoutRequest): Promise<void> {
  if (view.phase !== 'requires_action') return seeOther(ctx, wayBack(view) ?? checkoutPath(view.token), security);
  const result: PayResult = await deps.checkout.returnFromBank(view.token);
  seeOther(ctx, result.kind === 'redirect' ? result.to : checkoutPath(view.token), security);
}
