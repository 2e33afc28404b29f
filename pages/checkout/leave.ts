// The ways off the page that are not paying: cancelling, coming back from the bank, and asking once more.
import type { PayResult } from '../deps.ts';
import { seeOther } from '../respond.tsx';
import type { CheckoutRequest } from './open-page.tsx';
import { checkoutPath } from './page-props.ts';
import { wayBack } from './way-back.ts';

/** POST /checkout/{token}/cancel. Refused while a payment is under way: then the page shows that. */
export async function cancel({ ctx, deps, view, security }: CheckoutRequest): Promise<void> {
  if (view.cancelUrl === null) return seeOther(ctx, checkoutPath(view.token), security);
  const result = await deps.checkout.cancelCheckout(view.token);
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
