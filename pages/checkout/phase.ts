// THE table of a checkout's pages: for each phase the page that shows it, what its forms may ask for, and where the
// customer leaves to. Handlers look here and decide nothing themselves.
import type { ComponentType } from 'preact';
import type { CheckoutPhase } from '../deps.ts';
import type { CheckoutPageProps } from './page-props.ts';
import { PayablePage } from './payable-page.tsx';
import { ActionPage, CancelledPage, ExpiredPage, FailedPage, PaidPage, ProcessingPage } from './status-pages.tsx';

export type CheckoutAction = 'pay' | 'cancel' | 'check';

export interface PhaseRow {
  readonly page: ComponentType<CheckoutPageProps>;
  /** Anything else is answered with this phase's page. */
  readonly accepts: readonly CheckoutAction[];
}

export const phases: Readonly<Record<CheckoutPhase, PhaseRow>> = {
  payable: { page: PayablePage, accepts: ['pay', 'cancel'] },
  processing: { page: ProcessingPage, accepts: [] },
  requires_action: { page: ActionPage, accepts: ['check'] },
  completed: { page: PaidPage, accepts: [] },
  failed: { page: FailedPage, accepts: [] },
  expired: { page: ExpiredPage, accepts: [] },
  cancelled: { page: CancelledPage, accepts: [] },
};

/** A payment was begun and has not ended: nobody may end the session meanwhile. */
export function isUnderWay(phase: CheckoutPhase): boolean {
  return phase === 'processing' || phase === 'requires_action';
}
