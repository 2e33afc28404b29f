// A saved card as merchants see it; the gateway's reference never leaves. Pure functions of rows.
import type { TokenRow } from '../models/payment-token.ts';

/** @param shown what the row does not hold in this form */
export function presentToken(row: TokenRow, shown: { readonly fingerprint: string; readonly gatewayName: string }) {
  return {
    id: row.id,
    status: row.status,
    brand: row.brand,
    last4: row.last4,
    expiry_month: row.expiryMonth,
    expiry_year: row.expiryYear,
    fingerprint: shown.fingerprint,
    gateway: { name: shown.gatewayName, slug: row.gateway },
    customer_id: row.customerId,
    created_at: row.createdAt.toISOString(),
  };
}

export function presentDeactivation(row: TokenRow) {
  return { id: row.id, status: row.status, deactivated_at: row.deactivatedAt?.toISOString() ?? null, affected_subscriptions: [] };
}
