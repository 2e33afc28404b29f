// Where a customer whose session is over leaves to. The addresses are the merchant's, with the session's id added.
import { withSessionId } from '../../domain/redirect-url.ts';
import type { CheckoutPhase, HostedView } from '../deps.ts';

type Leaving = Pick<HostedView, 'sessionId' | 'successUrl' | 'failureUrl' | 'cancelUrl'> & { readonly phase: CheckoutPhase | 'open' };

/** null while the session is open, and for a cancelled one whose merchant gave no `cancel_url`. */
export function wayBack(view: Leaving): string | null {
  const address = merchantAddress(view);
  return address === null ? null : withSessionId(address, view.sessionId);
}

function merchantAddress(view: Leaving): string | null {
  switch (view.phase) {
    case 'completed':
      return view.successUrl;
    case 'failed':
      return view.failureUrl;
    case 'cancelled':
      return view.cancelUrl;
    // Nobody said where an expired customer goes; giving up is nearer to it than failing.
    case 'expired':
      return view.cancelUrl ?? view.failureUrl;
    case 'open':
    case 'payable':
    case 'processing':
    case 'requires_action':
      return null;
    default:
      return view.phase satisfies never;
  }
}
