// V7: each session and each payment without one has exactly the events its state says, numbered without a gap; each event has one delivery for each
// endpoint that wants it, delivered, retrying or given up; and what receivers got is what was written: same id, same
// bytes on every attempt, signed, in sequence, nobody else's.
import { sessionTransitions } from '../../../domain/checkout-session.ts';
import { isSignatureValid } from '../../../webhooks/signature.ts';
import type { Merchant, World } from '../world.ts';
import type { Violation } from './checker.ts';
import { grouped } from './money.ts';

interface EventRow {
  readonly id: string;
  readonly merchant_id: string;
  readonly type: string;
  readonly resource_id: string;
  readonly sequence: number;
  readonly body: string;
}
interface SessionRow {
  readonly id: string;
  readonly status: string;
  readonly transaction_id: string;
  readonly event_sequence: number;
  readonly payment_sequence: number;
}
interface DeliveryRow {
  readonly event_id: string;
  readonly endpoint_id: string;
  readonly status: string;
}

interface PaymentRow {
  readonly id: string;
  readonly status: string;
  readonly event_sequence: number;
  readonly authorized_only: boolean;
  readonly amount_captured: string;
}
interface RefundRow {
  readonly transaction_id: string;
  readonly type: 'full' | 'partial';
  readonly status: string;
}

const settled: readonly string[] = ['delivered', 'retrying', 'failed', 'skipped', 'cancelled'];

export async function checkEvents(world: World): Promise<Violation[]> {
  const { stack } = world;
  const violations: Violation[] = [];
  const add = (what: string): void => void violations.push({ invariant: 'V7', what });
  const events = await stack.query<EventRow>('select id, merchant_id, type, resource_id, sequence, body from events order by resource_id, sequence');
  const sessions = await stack.query<SessionRow>(
    'select s.id, s.status, s.transaction_id, s.event_sequence, t.event_sequence as payment_sequence from checkout_sessions s join transactions t on t.id = s.transaction_id',
  );
  const deliveries = await stack.query<DeliveryRow>('select event_id, endpoint_id, status from deliveries');
  const payments = await stack.query<PaymentRow>('select id, status, event_sequence, not capture as authorized_only, amount_captured from transactions where session_id is null');
  const refunds = await stack.query<RefundRow>('select transaction_id, type, status from refunds');
  const refundsOf = grouped(refunds, (refund) => refund.transaction_id);
  const byResource = grouped(events, (event) => event.resource_id);
  const known = new Set<string>();

  for (const session of sessions) {
    const own = [...(byResource.get(session.transaction_id) ?? []), ...(byResource.get(session.id) ?? [])];
    for (const event of own) known.add(event.id);
    const expected = [...expectedEvents(session.status), ...refundEvents(refundsOf.get(session.transaction_id))].toSorted().join(', ');
    const actual = namesOf(own);
    if (expected !== actual) add(`session ${session.id} (${session.status}) has the events ${actual}; its state says ${expected}`);
    for (const [resource, counted] of [[session.transaction_id, session.payment_sequence], [session.id, session.event_sequence]] as const) {
      const numbers = (byResource.get(resource) ?? []).map((event) => event.sequence);
      if (numbers.some((n, index) => n !== index + 1) || numbers.length !== counted) add(`${resource} has the sequences ${numbers.join(', ')} and counts ${counted}`);
    }
  }
  for (const payment of payments) {
    const own = byResource.get(payment.id) ?? [];
    for (const event of own) known.add(event.id);
    const expected = [...paymentEvents(payment), ...refundEvents(refundsOf.get(payment.id))].toSorted().join(', ');
    const actual = namesOf(own);
    if (expected !== actual) add(`payment ${payment.id} (${payment.status}) has the events ${actual}; its state says ${expected}`);
    const numbers = own.map((event) => event.sequence);
    if (numbers.some((n, index) => n !== index + 1) || numbers.length !== payment.event_sequence) add(`${payment.id} has the sequences ${numbers.join(', ')} and counts ${payment.event_sequence}`);
  }
  for (const event of events) if (!known.has(event.id)) add(`event ${event.id} (${event.type}) belongs to no session and no payment`);

  const byEvent = grouped(deliveries, (delivery) => delivery.event_id);
  const merchantOf = new Map(world.merchants.map((merchant) => [merchant.id, merchant]));
  for (const event of events) {
    const own = byEvent.get(event.id) ?? [];
    const endpoint = merchantOf.get(event.merchant_id)?.endpointId;
    if (own.length !== 1 || own[0]?.endpoint_id !== endpoint) add(`event ${event.id} has ${own.length} deliveries, to ${own.map((one) => one.endpoint_id).join(', ')}`);
    for (const delivery of own) if (!settled.includes(delivery.status)) add(`the delivery of ${event.id} is ${delivery.status}`);
  }

  const delivered = new Set(deliveries.filter((delivery) => delivery.status === 'delivered').map((delivery) => delivery.event_id));
  for (const merchant of world.merchants) checkReceiver(merchant, events, delivered, add);
  return violations;
}

function expectedEvents(status: string): string[] {
  const move = sessionTransitions.find((transition) => transition.to === status);
  return ['payment.created', ...(move?.events ?? [])];
}

/** A refund refused at once is told in the answer alone, one that was answered "pending" by an event too: not counted here. */
function namesOf(events: readonly EventRow[]): string {
  return events.map((event) => event.type).filter((type) => type !== 'payment.refund_failed').toSorted().join(', ');
}

/** Of a saved card charged without a page. */
function paymentEvents(payment: PaymentRow): string[] {
  if (payment.status === 'failed') return ['payment.failed'];
  const names = payment.authorized_only && !['pending', 'processing'].includes(payment.status) ? ['payment.authorized'] : [];
  if (payment.status === 'voided' || payment.status === 'expired') names.push('payment.voided');
  if (Number(payment.amount_captured) > 0) names.push('payment.completed');
  return names;
}

/** A part announces itself under two names. */
function refundEvents(refunds: readonly RefundRow[] = []): string[] {
  return refunds.filter((refund) => refund.status === 'succeeded').flatMap((refund) => (refund.type === 'full' ? ['payment.refunded'] : ['payment.partially_refunded', 'payment.refunded']));
}

function checkReceiver(merchant: Merchant, events: readonly EventRow[], delivered: ReadonlySet<string>, add: (what: string) => void): void {
  const mine = new Map(events.filter((event) => event.merchant_id === merchant.id).map((event) => [event.id, event]));
  const got = new Set<string>();
  const lastSequence = new Map<string, number>();
  for (const delivery of merchant.receiver.deliveries) {
    const id = String(delivery.headers['x-svc-event-id']);
    const event = mine.get(id);
    if (event === undefined) {
      add(`a receiver of ${merchant.id} got ${id}, which is no event of it`);
      continue;
    }
    if (delivery.raw.toString('utf8') !== event.body) add(`event ${id} arrived with other bytes than were written`);
    if (delivery.headers['webhook-id'] !== id || delivery.body?.id !== id || delivery.headers['x-svc-event'] !== event.type) add(`event ${id} arrived under another id or name`);
    const signature = { secret: merchant.secret, timestamp: String(delivery.headers['x-svc-timestamp']), signature: String(delivery.headers['x-svc-signature']), body: delivery.raw, now: new Date(delivery.receivedAtMs) };
    if (!isSignatureValid(signature)) add(`event ${id} arrived with a signature that does not verify`);
    if (!got.has(id)) {
      const last = lastSequence.get(event.resource_id) ?? 0;
      if (event.sequence < last) add(`event ${id} (sequence ${event.sequence}) first arrived after sequence ${last} of ${event.resource_id}`);
      lastSequence.set(event.resource_id, Math.max(last, event.sequence));
    }
    got.add(id);
  }
  for (const id of mine.keys()) if (delivered.has(id) && !got.has(id)) add(`event ${id} counts as delivered, its receiver never got it`);
}
