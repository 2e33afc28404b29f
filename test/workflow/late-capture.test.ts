// A gateway that takes money for a payment that was already over without it: the money goes back, the payment stays as it
// was, an operator hears of it.
import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Pan } from '../../domain/card.ts';
import { createSimulatorGateway } from '../../gateways/simulator/gateway.ts';
import { eventually } from '../support/eventually.ts';
import { payOnPage } from '../support/hosted-page.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

/** What the simulator would send, had it changed its mind by itself. */
async function notify(reference: string, key: string): Promise<number> {
  const rawBody = JSON.stringify({ id: `ntf_${key}`, type: 'charge.updated', reference, key });
  const timestamp = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', stack.simulator.secret).update(`${timestamp}.${rawBody}`).digest('hex');
  const answer = await request(`${stack.url}/gateway-notifications/simulator`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-simulator-signature': `t=${timestamp},v1=${mac}` },
    body: rawBody,
  });
  await answer.body.dump();
  return answer.statusCode;
}

it('gives back a capture that turns up for an expired session, once, and leaves the payment as it was', async () => {
  const { body: session } = await stack.api.post<{ id: string; checkout_url: string }>('/checkout-sessions', {
    amount: 2500,
    currency: 'USD',
    success_url: 'https://shop.example/paid',
    failure_url: 'https://shop.example/failed',
  });
  // A customer who never comes back from the bank; the authentication is given up at the cut-off.
  await payOnPage(session.checkout_url, '4000000000003220');
  const [row] = await stack.db.query<{ transaction_id: string; gateway_key: string }>('select transaction_id, gateway_key from payment_attempts where session_id = $1', [session.id]);
  const { transaction_id: paymentId, gateway_key: key } = row ?? { transaction_id: '', gateway_key: '' };
  await stack.service.client.workflow.getHandle(session.id).terminate('a test ends the attempt itself');
  await stack.db.query(`update payment_attempts set status = 'cancelled', settled_at = now(), gateway_key = gateway_key || ':gone' where session_id = $1`, [session.id]);
  await stack.db.query(`update checkout_sessions set status = 'expired', attempt_in_flight = false, due_at = null where id = $1`, [session.id]);
  await stack.db.query(`update transactions set status = 'expired' where id = $1`, [paymentId]);

  const gateway = createSimulatorGateway({ slug: 'simulator', name: 'Simulator', baseUrl: stack.simulator.url, secret: stack.simulator.secret });
  const call = { merchantId: stack.merchant.merchantId, mode: 'test' as const };
  const card = await gateway.vaultCard(new Pan({ number: '4242424242424242', cvc: '123', expiryMonth: 12, expiryYear: 2030 }), call);
  const taken = await gateway.charge(
    { key: `${key}:gone`, reference: paymentId, cardReference: card.reference, amountMinor: 2500, currency: 'USD', capture: true, initiatedBy: 'cardholder', returnUrl: null },
    call,
  );
  expect(taken.kind).toBe('captured');
  await gateway.close();

  expect(await notify(paymentId, `${key}:gone`)).toBe(200);
  await eventually(async () => {
    const { body } = await stack.api.get<{ status: string; amount_captured: number; amount_refunded: number; refunds: object[] }>(`/payments/${paymentId}`);
    expect(body).toMatchObject({ status: 'expired', amount_captured: 0, amount_refunded: 0, refunds: [{ reason: 'late_capture', amount: 2500, status: 'succeeded' }] });
    expect(body.refunds).toHaveLength(1);
  });
  const answer = await request(`${stack.simulator.url}/ledger?reference=${paymentId}`);
  const { data } = (await answer.body.json()) as { data: { type: string; status: string; amount: number }[] };
  expect(data.filter((entry) => entry.type === 'refund' && entry.status === 'succeeded')).toMatchObject([{ amount: 2500 }]);
  const events = await stack.db.query<{ type: string }>('select type from events where resource_id = $1', [paymentId]);
  expect(events.map((event) => event.type)).toEqual(['payment.created']);
  expect(stack.logs.some((line) => line.includes('"alert":"late_capture"'))).toBe(true);
});
