// What a charge does: the card table of the specification, idempotency by key, cancelling and the end of a 3DS
// challenge. Every change is one synchronous step on the ledger, so of two racing callers exactly one wins.
import type { DeclineCode } from '../domain/gateway-outcome.ts';
import { randomId } from './keys.ts';
import type { Ledger } from './ledger.ts';
import { amountField, currencyField, invalid, Refusal, returnUrlField, textField } from './refusal.ts';
import type { Fields } from './refusal.ts';
import type { CardRow, ChargeRow, ChargeStatus, GatewaySlug } from './rows.ts';

/** How the "slow" card keeps its caller waiting. */
export const slowCardMs = 3_000;

export interface ChargeOrder {
  readonly key: string;
  readonly reference: string;
  readonly card: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly capture: boolean;
  readonly initiatedBy: 'cardholder' | 'merchant';
  readonly returnUrl: string | null;
}

export function readChargeOrder(key: string, fields: Fields): ChargeOrder {
  const { capture = true, initiated_by: initiatedBy = 'cardholder' } = fields;
  if (typeof capture !== 'boolean') throw invalid('capture');
  if (initiatedBy !== 'cardholder' && initiatedBy !== 'merchant') throw invalid('initiated_by');
  return {
    key,
    reference: textField(fields, 'reference'),
    card: textField(fields, 'card'),
    amountMinor: amountField(fields),
    currency: currencyField(fields),
    capture,
    initiatedBy,
    returnUrl: returnUrlField(fields),
  };
}

/** The charge already made with this key, as it stands now. @throws Refusal 409 when it was another charge. */
export function repeatedCharge(ledger: Ledger, gateway: GatewaySlug, order: ChargeOrder): ChargeRow | undefined {
  const row = ledger.chargeByKey(gateway, order.key);
  if (row === undefined || row.card === null) return row;
  const same =
    row.reference === order.reference &&
    row.card === order.card &&
    row.amountMinor === order.amountMinor &&
    row.currency === order.currency &&
    row.capture === order.capture &&
    row.initiatedBy === order.initiatedBy;
  if (!same) throw new Refusal(409, 'idempotency_key_reused', { charged: undefined });
  return row;
}

/** Makes the charge; the caller has asked `repeatedCharge` in the same turn. */
export function makeCharge(ledger: Ledger, gateway: GatewaySlug, order: ChargeOrder, now: Date): ChargeRow {
  const card = ledger.card(gateway, order.card);
  const verdict = judge(card, order);
  const at = now.toISOString();
  const row: ChargeRow = {
    row: 'charge',
    id: randomId('sim_ch_'),
    gateway,
    ...order,
    status: verdict.status,
    behaviour: card?.behaviour ?? null,
    cardLast4: card?.last4 ?? null,
    amountCapturedMinor: verdict.status === 'captured' ? order.amountMinor : 0,
    amountRefundedMinor: 0,
    amountRefundPendingMinor: 0,
    declineCode: verdict.declineCode,
    createdAt: at,
    updatedAt: at,
  };
  if (card === undefined) ledger.write(row);
  else ledger.write({ ...card, uses: card.uses + 1 }, row);
  return row;
}

/** Gives a charge up that waits for its customer; a key never seen is dead from now on. Anything else stays as it is. */
export function cancelCharge(ledger: Ledger, gateway: GatewaySlug, key: string, reference: string, now: Date): ChargeRow {
  const found = ledger.chargeByKey(gateway, key);
  if (found !== undefined && found.status !== 'requires_action') return found;
  const row: ChargeRow = found ? { ...found, status: 'cancelled', updatedAt: now.toISOString() } : tombstone(gateway, key, reference, now);
  ledger.write(row);
  return row;
}

/** The customer's answer on the challenge page; does nothing to a charge that no longer waits for it. */
export function finishChallenge(ledger: Ledger, charge: ChargeRow, complete: boolean, now: Date): ChargeRow {
  if (charge.status !== 'requires_action') return charge;
  const updatedAt = now.toISOString();
  const row: ChargeRow = complete
    ? { ...charge, status: approval(charge.capture), amountCapturedMinor: charge.capture ? charge.amountMinor : 0, updatedAt }
    : { ...charge, status: 'declined', declineCode: 'authentication_failed', updatedAt };
  ledger.write(row);
  return row;
}

interface Verdict {
  readonly status: ChargeStatus;
  readonly declineCode: DeclineCode | null;
}

function judge(card: CardRow | undefined, order: ChargeOrder): Verdict {
  if (card === undefined) return declined('card_not_supported');
  switch (card.behaviour) {
    case 'generic_decline':
    case 'insufficient_funds':
    case 'lost_card':
    case 'stolen_card':
    case 'expired_card':
    case 'incorrect_cvc':
    case 'processing_error':
      return declined(card.behaviour);
    case 'challenge':
      if (order.initiatedBy === 'merchant') return declined('authentication_required');
      return { status: 'requires_action', declineCode: null };
    case 'decline_after_save':
      return card.uses > 0 ? declined('insufficient_funds') : approved(order);
    case 'decline_next_two':
      return card.uses === 1 || card.uses === 2 ? declined('insufficient_funds') : approved(order);
    case 'approve':
    case 'lost_answer':
    case 'never_answers':
    case 'slow':
    case 'refund_pending_succeeds':
    case 'refund_pending_fails':
      return approved(order);
    default:
      return card.behaviour satisfies never;
  }
}

function approved(order: ChargeOrder): Verdict {
  return { status: approval(order.capture), declineCode: null };
}

function approval(capture: boolean): 'captured' | 'authorized' {
  return capture ? 'captured' : 'authorized';
}

function declined(declineCode: DeclineCode): Verdict {
  return { status: 'declined', declineCode };
}

function tombstone(gateway: GatewaySlug, key: string, reference: string, now: Date): ChargeRow {
  const at = now.toISOString();
  return {
    row: 'charge',
    id: randomId('sim_ch_'),
    gateway,
    key,
    reference,
    status: 'cancelled',
    card: null,
    behaviour: null,
    cardLast4: null,
    amountMinor: 0,
    amountCapturedMinor: 0,
    amountRefundedMinor: 0,
    amountRefundPendingMinor: 0,
    currency: null,
    capture: false,
    initiatedBy: 'cardholder',
    returnUrl: null,
    declineCode: null,
    createdAt: at,
    updatedAt: at,
  };
}
