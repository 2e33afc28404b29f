// The lists of the interface specification, written down here once more and compared with the tables in the code. A change
// on either side has to be made on both, knowingly.
import { describe, expect, it } from 'vitest';
import { expiresInMinutes, sessionStatuses, sessionTransitions } from '../../../domain/checkout-session.ts';
import { defaultCurrencies } from '../../../domain/currency.ts';
import { automationEvents, eventNames, payloadVersion } from '../../../domain/event.ts';
import { idPrefixes } from '../../../domain/id.ts';
import { modes } from '../../../domain/mode.ts';
import { rateTiers, rateWindowMs } from '../../../domain/rate-tier.ts';
import { transactionStatuses } from '../../../domain/transaction.ts';
import { replayWindowSeconds } from '../../../webhooks/signature.ts';

describe('the tables in the code have what the specification lists', () => {
  it('checkout session status, and the events of each move', () => {
    expect([...sessionStatuses]).toEqual(['open', 'completed', 'failed', 'expired', 'cancelled']);
    const events = Object.fromEntries(sessionTransitions.map((move) => [`${move.from} → ${move.to}`, move.events]));
    expect(events).toEqual({
      'open → completed': ['payment.completed', 'checkout_session.completed'],
      'open → failed': ['payment.failed'],
      // Ours: the specification names no event for the end of time.
      'open → expired': ['checkout_session.expired'],
      'open → cancelled': ['checkout.cancelled'],
    });
  });

  it('transaction status, of which it shows one', () => {
    expect(transactionStatuses).toContain('captured');
  });

  it('the thirteen events, and beside them only those we added', () => {
    const listed = [
      'payment.created', 'payment.completed', 'payment.failed', 'payment.refunded', 'payment.partially_refunded', 'payment.voided', 'checkout_session.completed',
      'checkout.cancelled', 'subscription.created', 'subscription.charged', 'subscription.charge_failed', 'subscription.cancelled', 'subscription.updated',
    ];
    const added = ['payment.authorized', 'payment.refund_failed', 'checkout_session.expired', 'endpoint.test'];
    expect([...eventNames].sort()).toEqual([...listed, ...added].sort());
  });

  it('the nine events automation platforms subscribe to, in its order', () => {
    expect([...automationEvents]).toEqual([
      'payment.created', 'payment.completed', 'payment.failed', 'payment.refunded', 'subscription.created', 'subscription.charged', 'subscription.charge_failed',
      'subscription.cancelled', 'checkout_session.completed',
    ]);
  });

  it('the rate tiers and their rolling minute', () => {
    expect(rateTiers).toMatchObject({ 'payment-mutations': 60, writes: 120, 'public-reads': 300 });
    expect(rateWindowMs).toBe(60_000);
  });

  it('the constants and forms', () => {
    expect(expiresInMinutes).toEqual({ min: 1, max: 1440, default: 30 });
    expect(replayWindowSeconds).toBe(300);
    expect(payloadVersion).toBe(3);
    expect([...defaultCurrencies]).toEqual(['USD', 'JMD', 'TTD', 'BBD', 'EUR', 'GYD']);
    expect([...modes].sort()).toEqual(['live', 'test']);
    expect(idPrefixes).toMatchObject({ session: 'cs', transaction: 'txn', subscription: 'sub', customer: 'cus', token: 'pt', automationHook: 'whe_zap' });
  });
});
