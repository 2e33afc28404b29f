// The JSON the simulated gateway answers with: pure functions of ledger rows. No card reference or number leaves by
// the ledger listing.
import type { CardRow, ChargeRow, OperationRow } from './rows.ts';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export function cardAnswer(row: CardRow): Answer {
  return {
    status: 201,
    body: {
      reference: row.id,
      brand: row.brand,
      last4: row.last4,
      expiry_month: row.expiryMonth,
      expiry_year: row.expiryYear,
      fingerprint: row.fingerprint,
    },
  };
}

/** @param challengeUrl address of a charge's challenge page */
export function chargeAnswer(row: ChargeRow, challengeUrl: (row: ChargeRow) => string): Answer {
  return {
    status: 200,
    body: {
      id: row.id,
      key: row.key,
      reference: row.reference,
      status: row.status,
      amount: row.amountMinor,
      currency: row.currency,
      card: row.card,
      ...(row.declineCode === null ? {} : { decline_code: row.declineCode }),
      ...(row.status === 'requires_action' ? { action_url: challengeUrl(row) } : {}),
    },
  };
}

export function operationAnswer(row: OperationRow): Answer {
  return {
    status: 200,
    body: {
      id: row.id,
      key: row.key,
      type: row.type,
      reference: row.reference,
      charge: row.charge,
      status: row.status,
      amount: row.amountMinor,
      currency: row.currency,
      ...(row.failureCode === null ? {} : { failure_code: row.failureCode }),
    },
  };
}

export function ledgerAnswer(rows: readonly (ChargeRow | OperationRow)[]): Answer {
  return { status: 200, body: { data: rows.map(ledgerEntry) } };
}

function ledgerEntry(row: ChargeRow | OperationRow): Record<string, unknown> {
  return {
    type: row.row === 'charge' ? 'charge' : row.type,
    gateway: row.gateway,
    id: row.id,
    key: row.key,
    reference: row.reference,
    status: row.status,
    amount: row.amountMinor,
    ...(row.row === 'charge'
      ? { amount_captured: row.amountCapturedMinor, amount_refunded: row.amountRefundedMinor, amount_refund_pending: row.amountRefundPendingMinor }
      : { charge: row.charge }),
    currency: row.currency,
    behaviour: row.behaviour,
    card_last4: row.cardLast4,
    ...(row.row === 'charge' && row.declineCode !== null ? { decline_code: row.declineCode } : {}),
    ...(row.row === 'operation' && row.failureCode !== null ? { failure_code: row.failureCode } : {}),
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
