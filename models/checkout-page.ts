// What the hosted page shows, in one read. Unscoped on purpose: the page's address proves itself by its mac.
import { camelRow } from './base.ts';
import { type SessionWithTransaction, toSession } from './checkout-session.ts';
import type { Database, Statement } from './database.ts';
import type { AttemptStatus } from '../domain/transaction.ts';

export interface PageCard {
  readonly id: string;
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
}

export interface CheckoutPageRow {
  readonly session: SessionWithTransaction;
  readonly merchant: { readonly name: string; readonly logoUrl: string | null; readonly primaryColor: string | null };
  readonly declineCode: string | null;
  readonly openAttempt: { readonly id: string; readonly status: AttemptStatus; readonly actionUrl: string | null } | null;
  /** The customer's active cards at the session's gateway, newest first. */
  readonly savedCards: readonly PageCard[];
}

const pageStatement: Statement = {
  name: 'read-checkout-page',
  text: `select s.*, t.status as t_status, t.receipt_number as t_receipt_number, t.card_brand as t_card_brand, t.card_last4 as t_card_last4,
      t.gateway_transaction_id as t_gateway_transaction_id, t.token_id as t_token_id, t.tried_at as t_tried_at, clock_timestamp() as read_at,
      m.name as merchant_name, w.logo_url, w.primary_color, t.failure ->> 'decline_code' as decline_code,
      (select json_build_object('id', a.id, 'status', a.status, 'actionUrl', a.action_url) from payment_attempts a
        where a.transaction_id = t.id and a.status in ('requested', 'claimed', 'requires_action', 'unknown')) as open_attempt,
      case when s.customer_id is null or s.status <> 'open' then '[]' else (
        select coalesce(json_agg(json_build_object('id', k.id, 'brand', k.brand, 'last4', k.last4, 'expiryMonth', k.expiry_month, 'expiryYear', k.expiry_year)
          order by k.created_at desc), '[]')
        from payment_tokens k where k.customer_id = s.customer_id and k.merchant_id = s.merchant_id and k.mode = s.mode
          and k.gateway = s.gateway and k.status = 'active' and (s.token_only is null or k.id = s.token_only)) end as saved_cards
    from checkout_sessions s join transactions t on t.id = s.transaction_id
    join merchants m on m.id = s.merchant_id join merchant_settings w on w.merchant_id = s.merchant_id and w.mode = s.mode
    where s.id = $1`,
};

export async function readCheckoutPage(db: Database, sessionId: string): Promise<CheckoutPageRow | null> {
  const [row] = await db.run<object>(pageStatement, [sessionId]);
  if (row === undefined) return null;
  const flat = camelRow<{ merchantName: string; logoUrl: string | null; primaryColor: string | null } & Omit<CheckoutPageRow, 'session' | 'merchant'>>(row);
  return {
    session: toSession(row),
    merchant: { name: flat.merchantName, logoUrl: flat.logoUrl, primaryColor: flat.primaryColor },
    declineCode: flat.declineCode,
    openAttempt: flat.openAttempt,
    savedCards: flat.savedCards,
  };
}

const savedCardStatement: Statement = {
  name: 'read-saved-card-of-session',
  text: `select k.id, k.brand, k.last4, k.expiry_month, k.expiry_year, k.fingerprint, k.sealed_reference
    from payment_tokens k join checkout_sessions s on s.customer_id = k.customer_id and s.merchant_id = k.merchant_id and s.mode = k.mode
    where s.id = $1 and k.id = $2 and k.gateway = s.gateway and k.status = 'active' and (s.token_only is null or k.id = s.token_only)`,
};

/** An active card of the session's own customer at the session's gateway, or null. */
export async function findSavedCard(db: Database, sessionId: string, tokenId: string): Promise<(PageCard & { fingerprint: string; sealedReference: string }) | null> {
  const [row] = await db.run<object>(savedCardStatement, [sessionId, tokenId]);
  return row === undefined ? null : camelRow<PageCard & { fingerprint: string; sealedReference: string }>(row);
}
