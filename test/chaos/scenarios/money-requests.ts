// What the scenarios of money without a page ask for: charges of saved cards and what is done to the payments they make.
import { randomUUID } from 'node:crypto';
import type { MoneyKind } from '../fault-points.ts';
import type { KeyedRequest, Merchant, World } from '../world.ts';

export const chargeAmountMinor = 2500;

export interface Payment {
  readonly id: string;
  readonly merchant: Merchant;
}

export function charge(world: World, merchant: Merchant, token: string, fields: object = {}): KeyedRequest {
  return world.ask(merchant, '/charge-token', { token_id: token, amount: chargeAmountMinor, currency: 'USD', metadata: { order: randomUUID() }, ...fields });
}

export function refund(world: World, payment: Payment, amount: number | null = null): KeyedRequest {
  return world.ask(payment.merchant, `/payments/${payment.id}/refund`, { ...(amount === null ? {} : { amount }), metadata: { order: randomUUID() } });
}

export function capture(world: World, payment: Payment, amount: number | null = null): KeyedRequest {
  return world.ask(payment.merchant, `/payments/${payment.id}/capture`, amount === null ? {} : { amount });
}

export function voidIt(world: World, payment: Payment): KeyedRequest {
  return world.ask(payment.merchant, `/payments/${payment.id}/void`, {});
}

/** A payment that is there before anything is broken. @throws when its charge is not a 201 */
export async function makePayment(world: World, merchant: Merchant, token: string, fields: object = {}): Promise<Payment> {
  const request = charge(world, merchant, token, fields);
  const reply = await world.insist(request);
  if (reply?.status !== 201) throw new Error(`no payment: ${reply?.status} ${reply?.text.slice(0, 300)}`);
  return { id: (JSON.parse(reply.text) as { id: string }).id, merchant };
}

export interface Prepared {
  readonly request: KeyedRequest;
  /** Null until a charge has been answered. */
  readonly payment: Payment | null;
  /** Amount the operation is for. */
  readonly amountMinor: number;
  /** Status of the answer and of the payment when all went well. */
  readonly answered: number;
  readonly ends: string;
}

/** One operation of a kind, ready to be sent, on a payment of its own. */
export async function prepare(world: World, kind: MoneyKind, merchant: Merchant, token: string): Promise<Prepared> {
  if (kind === 'charge-token') return { request: charge(world, merchant, token), payment: null, amountMinor: chargeAmountMinor, answered: 201, ends: 'captured' };
  const payment = await makePayment(world, merchant, token, { capture: kind === 'refund' });
  if (kind === 'refund') return { request: refund(world, payment, 700), payment, amountMinor: 700, answered: 201, ends: 'partially_refunded' };
  if (kind === 'capture') return { request: capture(world, payment, 1800), payment, amountMinor: 1800, answered: 200, ends: 'captured' };
  return { request: voidIt(world, payment), payment, amountMinor: chargeAmountMinor, answered: 200, ends: 'voided' };
}

/** The payment a request is about; a charge's is found by its mark. Null when nothing was written. */
export async function paymentOf(world: World, prepared: Prepared): Promise<string | null> {
  if (prepared.payment !== null) return prepared.payment.id;
  const { order } = (prepared.request.body as { metadata: { order: string } }).metadata;
  const [row] = await world.stack.query<{ id: string }>(`select id from transactions where metadata ->> 'order' = $1`, [order]);
  return row?.id ?? null;
}
