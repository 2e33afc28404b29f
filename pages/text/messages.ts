// Every sentence of the hosted pages, as one shape that each language fills: a missing sentence does not compile.
// Knows no HTML. Functions take what they insert; numbers and amounts arrive already formatted.
import type { CardProblem } from '../checkout/card-form.ts';

export interface Messages {
  /** BCP 47, for the lang attribute. */
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
  readonly testBadge: string;
  readonly testNotice: string;

  readonly payTitle: (merchant: string) => string;
  readonly quantity: (quantity: string, unitAmount: string) => string;
  readonly moreItems: (count: string) => string;
  readonly subtotal: string;
  readonly tax: string;
  readonly other: string;
  readonly totalDue: string;
  readonly total: string;

  readonly paymentDetails: string;
  readonly payWith: string;
  readonly newCard: string;
  readonly savedCard: (brand: string, last4: string) => string;
  readonly savedCardExpires: (expiry: string) => string;
  readonly email: string;
  readonly optional: string;
  readonly number: string;
  readonly expiry: string;
  readonly expiryHint: string;
  readonly cvc: string;
  readonly cvcHint: string;
  readonly cvcHintAmex: string;
  readonly name: string;
  readonly saveNotice: (merchant: string) => string;
  readonly pay: (amount: string) => string;
  readonly busy: string;
  readonly cancel: string;
  readonly secureNote: string;
  readonly testCards: string;
  readonly testCardsHint: string;
  readonly fillCard: (number: string) => string;

  readonly errorTitle: string;
  readonly errorPrefix: string;
  readonly problems: Readonly<Record<CardProblem, string>>;
  readonly gatewayUnavailable: { readonly title: string; readonly text: string };

  readonly processing: { readonly title: string; readonly text: string; readonly again: string };
  readonly action: { readonly title: string; readonly text: string; readonly go: string; readonly check: string };
  readonly paid: { readonly title: string; readonly text: (merchant: string) => string };
  readonly failed: { readonly title: string; readonly again: string };
  readonly expired: { readonly title: string; readonly text: (merchant: string) => string };
  readonly cancelled: { readonly title: string; readonly text: string };
  readonly backTo: (merchant: string) => string;
  readonly receipt: string;
  readonly card: string;
  readonly amount: string;
  readonly cardEnding: (brand: string, last4: string) => string;
  /** By the tone a decline is told in, see checkout/decline.ts. */
  readonly declines: Readonly<Record<DeclineTone, string>>;

  /** The page that saves a card without charging it. */
  readonly setup: {
    readonly title: (merchant: string) => string;
    readonly nothingDue: string;
    readonly details: string;
    readonly save: string;
    readonly cancel: string;
    readonly notSaved: { readonly title: string; readonly text: string };
    readonly over: Readonly<Record<'completed' | 'failed' | 'expired' | 'cancelled', { readonly title: string; readonly text: (merchant: string) => string }>>;
  };

  readonly pageErrors: Readonly<Record<PageErrorKind, { readonly title: string; readonly text: string }>>;
  readonly openAgain: string;
}

export type DeclineTone = 'plain' | 'funds' | 'expired' | 'cvc' | 'number' | 'gateway' | 'authentication' | 'unsupported';

export type PageErrorKind = 'not_found' | 'forbidden' | 'wrong_type' | 'too_large' | 'too_many' | 'unavailable' | 'fault';
