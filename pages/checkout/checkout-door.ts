// What a checkout page can do: show its session, pay, come back from the bank, cancel. The card goes to the gateway in the
// same call it arrived with; from here on there is only the gateway's reference.
import type { Pan } from '../../domain/card.ts';
import { visibleStatus } from '../../domain/checkout-session.ts';
import { withSessionId } from '../../domain/redirect-url.ts';
import { CardRejected, type Gateway, VaultUnavailable } from '../../gateways/gateway.ts';
import type { GatewayRegistry } from '../../gateways/registry.ts';
import { type CheckoutPageRow, findSavedCard, readCheckoutPage } from '../../models/checkout-page.ts';
import { type NewAttempt, requestAttempt } from '../../models/payment-attempt.ts';
import { sessionIdOfToken } from '../../operations/checkout-url.ts';
import type { OperationDeps } from '../../operations/deps.ts';
import { seal } from '../../platform/seal.ts';
import type { AttemptResult } from '../../temporal/contract.ts';
import type { DoorSession, SessionDoor } from '../../temporal/session-door.ts';
import type { CheckoutDoor, CheckoutPhase, CheckoutView, PayResult, PaymentCard, Payer } from '../deps.ts';
import { type RecordVault, timedVault } from './timed-vault.ts';

export interface CheckoutDoorDeps {
  readonly operations: OperationDeps;
  readonly gateways: GatewayRegistry;
  readonly temporal: SessionDoor;
  readonly recordVault: RecordVault;
}

export function createCheckoutDoor(deps: CheckoutDoorDeps): CheckoutDoor {
  const { operations, temporal } = deps;
  const { db } = operations;

  const read = async (token: string): Promise<CheckoutPageRow | null> => {
    const sessionId = sessionIdOfToken(operations, token);
    return sessionId === null ? null : readCheckoutPage(db, sessionId);
  };
  // Paying begins from the rows its page was opened with in the same request: what moved since is refused by the
  // statement that writes the attempt. Weak, so that a page goes with its request.
  const opened = new WeakMap<CheckoutView, CheckoutPageRow>();
  /** Where a result leads; the rows are read again where it leads to a page of ours. */
  const lead = async (page: CheckoutPageRow, result: AttemptResult | 'pending'): Promise<PayResult> => {
    const { session } = page;
    if (result === 'pending') return { kind: 'processing' };
    switch (result.state) {
      case 'approved':
        return { kind: 'redirect', to: withSessionId(session.successUrl, session.id) };
      case 'declined':
        return { kind: 'redirect', to: withSessionId(session.failureUrl, session.id) };
      case 'requires_action': {
        const current = await readCheckoutPage(db, session.id);
        return current?.openAttempt?.actionUrl ? { kind: 'redirect', to: current.openAttempt.actionUrl } : { kind: 'processing' };
      }
      case 'unknown':
        return { kind: 'processing' };
      case 'unreached':
        return { kind: 'try_again', reason: 'gateway_unavailable' };
      case 'refused':
      case 'cancelled': {
        const current = await readCheckoutPage(db, session.id);
        return { kind: 'refused', status: current === null ? 'expired' : visibleStatus(current.session, current.session.readAt) };
      }
    }
  };

  const vault = (page: CheckoutPageRow, gateway: Gateway, card: Pan) => {
    const { merchantId, mode, transactionId } = page.session;
    return timedVault(deps.recordVault, { merchantId, mode, transactionId, gateway: gateway.slug }, () => gateway.vaultCard(card, { merchantId, mode }));
  };

  /** The attempt to be written, with the card's reference sealed; null when the saved card is not the customer's. */
  const prepare = async (page: CheckoutPageRow, card: PaymentCard, payer: Payer): Promise<NewAttempt | null> => {
    const { session } = page;
    const id = operations.newId('attempt');
    const base = { id, sessionId: session.id, initiatedBy: 'cardholder' as const, payer: { name: payer.name ?? null, email: payer.email ?? null } };
    if ('savedTokenId' in card) {
      const saved = await findSavedCard(db, session.id, card.savedTokenId);
      if (saved === null) return null;
      const { brand, last4, expiryMonth, expiryYear, fingerprint } = saved;
      return { ...base, sealedCardReference: saved.sealedReference, card: { brand, last4, expiryMonth, expiryYear, fingerprint }, tokenId: saved.id };
    }
    const gateway = deps.gateways.open(session.gateway);
    if (gateway === null) throw new VaultUnavailable(`gateway ${session.gateway} is not configured`);
    const { reference, brand, last4, expiryMonth, expiryYear, fingerprint } = await vault(page, gateway, card);
    return { ...base, sealedCardReference: seal(operations.keyRing, 'gateway-token', id, reference), card: { brand, last4, expiryMonth, expiryYear, fingerprint }, tokenId: null };
  };

  return {
    async openCheckout(token) {
      const page = await read(token);
      if (page === null) return null;
      const view = toView(page, token);
      opened.set(view, page);
      return view;
    },

    async requestPayment(view, card, payer) {
      const page = opened.get(view) ?? (await read(view.token));
      if (page === null) return { kind: 'refused', status: 'expired' };
      const { session } = page;
      const status = visibleStatus(session, session.readAt);
      if (status !== 'open') return { kind: 'refused', status };
      // Somebody is paying already (another tab, a second click): this call joins that attempt and charges nothing itself.
      let attemptId = page.openAttempt?.id ?? null;
      if (attemptId === null && session.tokenOnly !== null && !('savedTokenId' in card)) {
        return { kind: 'card_rejected', field: 'number', message: 'This payment can only be made with the saved card.' };
      }
      if (attemptId === null) {
        let attempt: NewAttempt | null;
        try {
          attempt = await prepare(page, card, payer);
        } catch (error) {
          if (error instanceof CardRejected) return { kind: 'card_rejected', field: error.field, message: error.message };
          if (error instanceof VaultUnavailable) return { kind: 'try_again', reason: 'gateway_unavailable' };
          throw error;
        }
        if (attempt === null) return { kind: 'card_rejected', field: 'number', message: 'This saved card can no longer be used; enter another card.' };
        attemptId = await requestAttempt(db, attempt);
      }
      if (attemptId === null) return lead(page, { state: 'refused' });
      return lead(page, await temporal.pay(doorSession(page), attemptId));
    },

    async returnFromBank(token) {
      const page = await read(token);
      if (page === null) return { kind: 'refused', status: 'expired' };
      const status = visibleStatus(page.session, page.session.readAt);
      if (status === 'completed') return { kind: 'redirect', to: withSessionId(page.session.successUrl, page.session.id) };
      if (status === 'failed') return { kind: 'redirect', to: withSessionId(page.session.failureUrl, page.session.id) };
      if (page.openAttempt === null) return { kind: 'refused', status };
      const result = await temporal.authenticated(doorSession(page), page.openAttempt.id);
      // Still at the bank: our own page offers to go on there, a redirect would send the customer round in circles.
      if (result !== 'pending' && result.state === 'requires_action') return { kind: 'processing' };
      return lead(page, result);
    },

    async cancelCheckout(token) {
      const page = await read(token);
      if (page === null) return { kind: 'refused', status: 'expired' };
      const { session } = page;
      const status = visibleStatus(session, session.readAt);
      if (status === 'cancelled' && session.cancelUrl !== null) return { kind: 'redirect', to: withSessionId(session.cancelUrl, session.id) };
      if (status !== 'open') return { kind: 'refused', status };
      if (session.attemptInFlight || session.cancelUrl === null) return { kind: 'in_flight' };
      const result = await temporal.endSession(doorSession(page), 'cancelled');
      switch (result.state) {
        case 'ended':
          return { kind: 'redirect', to: withSessionId(session.cancelUrl, session.id) };
        case 'in_flight':
        case 'early':
          return { kind: 'in_flight' };
        case 'already':
          if (result.status === 'cancelled') return { kind: 'redirect', to: withSessionId(session.cancelUrl, session.id) };
          return lead(page, { state: 'refused' }).then((led) => (led.kind === 'refused' ? led : { kind: 'in_flight' as const }));
      }
    },
  };
}

function doorSession(page: CheckoutPageRow): DoorSession {
  const { id, merchantId, mode, amount, currency, expiresAt } = page.session;
  return { id, merchantId, merchantName: page.merchant.name, mode, amount, currency, expiresAt };
}

function phaseOf(page: CheckoutPageRow): CheckoutPhase {
  const status = visibleStatus(page.session, page.session.readAt);
  if (status !== 'open') return status;
  if (page.openAttempt === null) return 'payable';
  return page.openAttempt.status === 'requires_action' ? 'requires_action' : 'processing';
}

function toView(page: CheckoutPageRow, token: string): CheckoutView {
  const { session } = page;
  const { transaction } = session;
  return {
    sessionId: session.id,
    token,
    mode: session.mode,
    status: visibleStatus(session, session.readAt),
    phase: phaseOf(page),
    actionUrl: page.openAttempt?.actionUrl ?? null,
    merchant: page.merchant,
    amountMinor: session.amount,
    currency: session.currency,
    description: session.description,
    lineItems: session.lineItems,
    subtotalMinor: session.subtotal,
    taxName: session.taxName,
    taxRate: session.taxRate,
    taxAmountMinor: session.taxAmount,
    successUrl: session.successUrl,
    failureUrl: session.failureUrl,
    cancelUrl: session.cancelUrl,
    customer: session.customer === null ? null : { name: session.customer.name, email: session.customer.email },
    savedCards: page.savedCards,
    savePaymentMethod: session.savePaymentMethod,
    locale: session.locale,
    expiresAt: session.expiresAt,
    receiptNumber: transaction.triedAt === null ? null : transaction.receiptNumber,
    card: transaction.cardBrand === null || transaction.cardLast4 === null ? null : { brand: transaction.cardBrand, last4: transaction.cardLast4 },
    failure: session.status === 'failed' ? { declineCode: page.declineCode } : null,
    testCards: session.mode === 'test',
  };
}
