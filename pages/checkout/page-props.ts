// What the hosted pages are drawn from: a checkout's, and with less of it every page with a card form.
import type { AssetStore } from '../asset-store.ts';
import type { CheckoutView, HostedView } from '../deps.ts';
import type { AmountFormat } from '../text/amount.ts';
import type { Messages } from '../text/messages.ts';
import type { CardField, KeptFields } from './card-form.ts';

export interface HostedPageProps {
  readonly view: HostedView;
  readonly messages: Messages;
  /** For Intl. */
  readonly locale: string;
  readonly assets: AssetStore;
  readonly imageOrigins: readonly string[];
  /** Hidden token of this session's forms. */
  readonly formToken: string;
  readonly form: PayFormState;
}

export interface CheckoutPageProps extends HostedPageProps {
  readonly view: CheckoutView;
  readonly amount: AmountFormat;
}

/** What a refused form comes back with. */
export interface PayFormState {
  readonly kept: KeptFields;
  /** Sentences beside the fields. */
  readonly errors: Readonly<Partial<Record<CardField, string>>>;
  /** The gateway was surely not reached. */
  readonly gatewayUnavailable: boolean;
}

/** Addresses below a checkout page. */
export function checkoutPath(token: string, action?: 'pay' | 'cancel' | 'check' | 'return' | 'status'): string {
  return action === undefined ? `/checkout/${token}` : `/checkout/${token}/${action}`;
}
