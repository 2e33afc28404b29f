// What every page of a checkout is drawn from.
import type { AssetStore } from '../asset-store.ts';
import type { CheckoutView } from '../deps.ts';
import type { AmountFormat } from '../text/amount.ts';
import type { Messages } from '../text/messages.ts';
import type { CardField, KeptFields } from './card-form.ts';

export interface CheckoutPageProps {
  readonly view: CheckoutView;
  readonly messages: Messages;
  /** For Intl. */
  readonly locale: string;
  readonly amount: AmountFormat;
  readonly assets: AssetStore;
  readonly imageOrigins: readonly string[];
  /** Hidden token of this session's forms. */
  readonly formToken: string;
  readonly form: PayFormState;
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
