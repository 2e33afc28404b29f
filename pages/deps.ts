// What the pages need from the rest of the service: the operations behind a checkout page as one port, and the few
// things every answer takes. Declares shapes only; composition roots hand in the real functions.
import type { Context } from 'koa';
import type { Pan } from '../domain/card.ts';
import type { CardSetupStatus } from '../domain/card-setup.ts';
import type { SessionStatus } from '../domain/checkout-session.ts';
import type { DeclineCode } from '../domain/gateway-outcome.ts';
import type { Mode } from '../domain/mode.ts';
import type { KeyRing } from '../platform/key-ring.ts';

export interface PagesDeps {
  readonly checkout: CheckoutDoor;
  readonly setup: CardSetupPages;
  /** For the hidden token of our own forms (purpose `page-form`). */
  readonly keyRing: KeyRing;
  /** Whether customers reach us by https: then browsers are told to stay there. */
  readonly https: boolean;
  readonly log: { error(fields: object, message: string): void };
  /** Only for what a card's expiry is compared with; whether a session is open is the operations' to say. */
  readonly now: () => Date;
  readonly limits?: PageLimits;
}

/** Each counts one call and returns the seconds to wait when it is refused, else null. None answers the request itself. */
export interface PageLimits {
  /** Per client address. */
  read(ctx: Context): Promise<number | null>;
  /** Per client address and per session. */
  post(ctx: Context, sessionId: string): Promise<number | null>;
}

/** The operations of a checkout page. Each may throw `DomainError('service_unavailable')`. */
export interface CheckoutDoor {
  /** null for an altered or unknown token: a plain 404. */
  openCheckout(token: string): Promise<CheckoutView | null>;
  requestPayment(view: CheckoutView, card: PaymentCard, payer: Payer): Promise<PayResult>;
  /** Asks what became of the customer's authentication at the bank. Only called in phase `requires_action`. */
  returnFromBank(token: string): Promise<PayResult>;
  cancelCheckout(token: string): Promise<CancelResult>;
}

export type PaymentCard = Pan | { readonly savedTokenId: string };

export interface Payer {
  readonly name?: string;
  readonly email?: string;
}

export type PayResult =
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'processing' }
  | { readonly kind: 'try_again'; readonly reason: 'gateway_unavailable' }
  | { readonly kind: 'refused'; readonly status: SessionStatus }
  | { readonly kind: 'card_rejected'; readonly field: 'number' | 'expiry' | 'cvc'; readonly message: string };

export type CancelResult =
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'refused'; readonly status: SessionStatus };

/** What the customer may see of a session right now. */
export type CheckoutPhase = 'payable' | 'processing' | 'requires_action' | Exclude<SessionStatus, 'open'>;

/** What every page with a card form knows. */
export interface HostedView {
  /** Of the checkout session or the card setup. */
  readonly sessionId: string;
  /** `{session id}.{mac}`, the last part of the page's address. */
  readonly token: string;
  readonly mode: Mode;
  readonly merchant: { readonly name: string; readonly logoUrl: string | null; readonly primaryColor: string | null };
  readonly successUrl: string;
  readonly failureUrl: string;
  readonly cancelUrl: string | null;
  readonly card: { readonly brand: string; readonly last4: string } | null;
  /** Whether to offer the simulator's card table. */
  readonly testCards: boolean;
}

export interface CheckoutView extends HostedView {
  readonly status: SessionStatus;
  readonly phase: CheckoutPhase;
  /** Where the bank waits for the customer, in phase `requires_action`. */
  readonly actionUrl: string | null;
  readonly amountMinor: number;
  readonly currency: string;
  readonly description: string | null;
  readonly lineItems: readonly CheckoutLine[];
  readonly subtotalMinor: number | null;
  readonly taxName: string | null;
  /** 0.15 means 15 percent. */
  readonly taxRate: number | null;
  readonly taxAmountMinor: number | null;
  readonly customer: { readonly name: string | null; readonly email: string | null } | null;
  readonly savedCards: readonly SavedCard[];
  readonly savePaymentMethod: boolean;
  readonly locale: string | null;
  readonly expiresAt: Date;
  readonly receiptNumber: string | null;
  readonly failure: { readonly declineCode: DeclineCode | string | null } | null;
}

/** The operations of a card setup's page. */
export interface CardSetupPages {
  /** null for an altered or unknown token: a plain 404. */
  openSetup(token: string): Promise<CardSetupView | null>;
  saveCard(view: CardSetupView, card: Pan): Promise<SaveResult>;
  /** @returns what became of it: `open` when it could not be cancelled any more and has not expired yet */
  cancelSetup(view: CardSetupView): Promise<CardSetupStatus>;
}

export interface CardSetupView extends HostedView {
  readonly phase: CardSetupStatus;
  readonly customerName: string | null;
}

export type SaveResult =
  /** Nothing more can be saved here: this form was, another one was, or it was too late. */
  | { readonly kind: 'over'; readonly status: CardSetupStatus }
  | { readonly kind: 'try_again' }
  | { readonly kind: 'card_rejected'; readonly field: 'number' | 'expiry' | 'cvc'; readonly message: string };

export interface CheckoutLine {
  readonly name: string;
  readonly description: string | null;
  readonly quantity: number;
  readonly unitAmountMinor: number;
  readonly imageUrl: string | null;
  readonly taxAmountMinor: number | null;
}

export interface SavedCard {
  readonly id: string;
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
}
