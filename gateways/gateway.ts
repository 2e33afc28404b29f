// The port every payment gateway stands behind. An adapter talks to its provider and maps answers onto
// domain/gateway-outcome.ts; it never touches the database and never decides what happens next.
import type { Pan } from '../domain/card.ts';
import type { ChargeOutcome, LookupOutcome, OperationOutcome } from '../domain/gateway-outcome.ts';

export type { OperationOutcome } from '../domain/gateway-outcome.ts';

/** What a gateway can do, declared by itself and relied upon by everything else. */
export interface GatewayCapabilities {
  /** Upper-case ISO 4217 codes it can settle, or every one. */
  readonly currencies: 'all' | readonly string[];
  readonly manualCapture: boolean;
  readonly partialCapture: boolean;
  readonly refunds: boolean;
  readonly threeDS: boolean;
  readonly savedCards: boolean;
  /** Whether the gateway reports by POST /gateway-notifications/{slug}. */
  readonly notifications: boolean;
  /** Milliseconds a charge, capture, void or refund may take before its outcome counts as unknown. */
  readonly chargeTimeoutMs: number;
  /** Milliseconds a look-up may take. */
  readonly lookupTimeoutMs: number;
  /** Milliseconds after the request was sent from which "not found" is final. */
  readonly notFoundFinalAfterMs: number;
}

/** A card the gateway now keeps. `reference` is secret-like: seal it before storing, never log it. */
export interface VaultedCard {
  readonly reference: string;
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
  /** Equal for equal card numbers at this gateway, reveals nothing of the number. */
  readonly fingerprint: string;
}

export interface ChargeRequest {
  /** Idempotency key at the gateway: `{transaction}:charge:{n}`. The same key never charges twice. */
  readonly key: string;
  /** Our reference, the transaction id: what look-ups and the gateway's ledger are searched by. */
  readonly reference: string;
  /** Reference from `vaultCard`. */
  readonly cardReference: string;
  readonly amountMinor: number;
  readonly currency: string;
  /** false only authorises. */
  readonly capture: boolean;
  /** Who starts this charge: a merchant-initiated one cannot answer a 3DS challenge. */
  readonly initiatedBy: 'cardholder' | 'merchant';
  /** Where the bank sends the browser after a challenge. */
  readonly returnUrl: string | null;
}

/** Which merchant and mode a call is made for (gateway accounts are per merchant and mode) and how long it may run. */
export interface GatewayCall {
  readonly merchantId: string;
  readonly mode: 'test' | 'live';
  /** Ends the call early, at shutdown. An aborted call counts as `unknown` when it may have been sent. */
  readonly signal?: AbortSignal;
}

export interface VaultOptions {
  /** The card is kept for later charges, not for one that follows at once. */
  readonly save?: boolean;
}

/** Thrown by `vaultCard` alone, when the card surely was not kept. */
export class VaultUnavailable extends Error {
  override readonly name = 'VaultUnavailable';
  /** Nobody answered at all; an answer that was no use is not silence. */
  readonly silent: boolean;
  constructor(message: string, silent = false) {
    super(message);
    this.silent = silent;
  }
}
/** Thrown by `vaultCard` when the gateway refuses the card data itself; `message` is safe to show. */
export class CardRejected extends Error {
  override readonly name = 'CardRejected';
  readonly field: 'number' | 'expiry' | 'cvc';
  constructor(field: 'number' | 'expiry' | 'cvc', message: string) {
    super(message);
    this.field = field;
  }
}

export interface Gateway {
  readonly slug: string;
  readonly name: string;
  readonly capabilities: GatewayCapabilities;

  /** Hands the card to the gateway. Moves no money. @throws VaultUnavailable, CardRejected */
  vaultCard(card: Pan, call: GatewayCall, options?: VaultOptions): Promise<VaultedCard>;
  /** One attempt, one network call; never throws for anything the network or the gateway does. */
  charge(request: ChargeRequest, call: GatewayCall): Promise<ChargeOutcome>;
  /** What became of the charge with this key. Never throws. */
  lookupCharge(request: LookupRequest, call: GatewayCall): Promise<LookupOutcome>;
  /**
   * Gives up a charge that waits for the customer's authentication (or was never seen). Afterwards the gateway answers
   * `cancelled` for this key for ever, unless money had already moved: then that is the answer. Never throws.
   */
  cancelCharge(request: LookupRequest, call: GatewayCall): Promise<LookupOutcome>;
  /** Releases an authorisation. */
  voidCharge(request: OperationRequest, call: GatewayCall): Promise<OperationOutcome>;
  /** Takes authorised money, once; the rest of the authorisation is released. */
  captureCharge(request: OperationRequest & { amountMinor: number; currency: string }, call: GatewayCall): Promise<OperationOutcome>;
  refundCharge(request: OperationRequest & { amountMinor: number; currency: string }, call: GatewayCall): Promise<OperationOutcome>;
  /** What became of the capture, void or refund with this key. */
  lookupOperation(request: LookupRequest, call: GatewayCall): Promise<OperationOutcome | { kind: 'not_found' }>;
}

export interface LookupRequest {
  readonly key: string;
  readonly reference: string;
  /** The gateway's id of the charge, where it is known: some gateways find by it what their search does not show yet. */
  readonly gatewayTransactionId?: string | null;
}

export interface OperationRequest {
  /** `{transaction}:{capture|void|refund}:{n}` */
  readonly key: string;
  readonly reference: string;
  readonly gatewayTransactionId: string;
}
