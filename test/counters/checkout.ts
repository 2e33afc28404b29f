// A merchant and a customer for the counters: create a session, pay it with the test card that is approved.
import { expect } from 'vitest';
import { request } from 'undici';
import { makeFormToken } from '../../pages/form-guard.ts';
import type { Stack } from '../support/stack.ts';

export interface CreatedCheckout {
  readonly id: string;
  readonly url: string;
}

export async function createCheckout(stack: Stack, idempotencyKey: string): Promise<CreatedCheckout> {
  const { status, body } = await stack.api.post<{ id: string; checkout_url: string }>(
    '/checkout-sessions',
    { amount: 2500, currency: 'USD', success_url: 'https://shop.example/thanks', failure_url: 'https://shop.example/sorry', metadata: { order: '1001' } },
    { idempotencyKey },
  );
  expect(status).toBe(201);
  return { id: body.id, url: body.checkout_url };
}

export async function payCheckout(stack: Stack, checkout: CreatedCheckout): Promise<void> {
  const fields = { form_token: makeFormToken(stack.service.operations.keyRing, checkout.id), method: 'new', number: '4242424242424242', expiry: '12 / 40', cvc: '123', name: 'Ada Lovelace', email: 'ada@shop.example' };
  const answer = await request(`${checkout.url}/pay`, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: new URLSearchParams(fields).toString() });
  await answer.body.dump();
  expect(answer.statusCode).toBe(303);
  expect(String(answer.headers['location'])).toContain('shop.example/thanks');
}
