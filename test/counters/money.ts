// Payments without a page for the counters: a saved card, charges of it, and what is done with them, over the API.
import { expect } from 'vitest';
import type { Stack } from '../support/stack.ts';

export interface Money {
  /** @param capture false only authorises */
  charge(idempotencyKey: string, capture?: boolean): Promise<string>;
  /** Half of it. */
  refund(paymentId: string, idempotencyKey: string): Promise<void>;
  capture(paymentId: string, idempotencyKey: string): Promise<void>;
  void(paymentId: string, idempotencyKey: string): Promise<void>;
}

/** Saves the test card that is approved. */
export async function saveCard(stack: Stack): Promise<Money> {
  const saved = await stack.api.post('/tokenize', { card: { number: '4242424242424242', expiry_month: 12, expiry_year: 2040, cvc: '123' }, external_customer_id: 'counted' });
  expect(saved.status).toBe(201);
  const move = async (path: string, body: object, idempotencyKey: string, expected: object): Promise<Record<string, unknown>> => {
    const answer = await stack.api.post(path, body, { idempotencyKey });
    expect(answer).toMatchObject(expected);
    return answer.body;
  };
  return {
    async charge(idempotencyKey, capture = true) {
      const body = { token_id: saved.body['id'], amount: 2500, currency: 'USD', capture, metadata: { order: '1001' } };
      return String((await move('/charge-token', body, idempotencyKey, { status: 201, body: { status: capture ? 'captured' : 'authorized' } }))['id']);
    },
    async refund(paymentId, key) {
      await move(`/payments/${paymentId}/refund`, { amount: 1250 }, key, { status: 201, body: { status: 'succeeded' } });
    },
    async capture(paymentId, key) {
      await move(`/payments/${paymentId}/capture`, {}, key, { status: 200, body: { status: 'captured' } });
    },
    async void(paymentId, key) {
      await move(`/payments/${paymentId}/void`, {}, key, { status: 200, body: { status: 'voided' } });
    },
  };
}
