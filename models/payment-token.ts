// The payment_tokens table: saved cards. The gateway's reference is sealed and only handed on; at most one token of a
// customer's card at a gateway is active, which a partial unique index holds.
import type { Knex } from 'knex';
import type { Mode, Scope } from '../domain/mode.ts';
import { BaseModel, camelRow } from './base.ts';
import type { Database, Statement } from './database.ts';

export class PaymentToken extends BaseModel {
  static override tableName = 'payment_tokens';
}

export interface TokenRow {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly customerId: string;
  readonly gateway: string;
  readonly status: 'active' | 'deactivated';
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
  /** The gateway's, equal for equal numbers there; merchants see one keyed for them. */
  readonly fingerprint: string;
  readonly createdAt: Date;
  readonly deactivatedAt: Date | null;
}

const columns = `k.id, k.merchant_id, k.mode, k.customer_id, k.gateway, k.status, k.brand, k.last4, k.expiry_month, k.expiry_year, k.fingerprint, k.created_at, k.deactivated_at`;

const findStatement: Statement = {
  name: 'find-token',
  text: `select ${columns} from payment_tokens k where k.id = $1 and k.merchant_id = $2 and k.mode = $3`,
};

/** The merchant's token, active or not; null when it is absent, another merchant's or another mode's. */
export async function findToken(db: Database, scope: Scope, id: string): Promise<TokenRow | null> {
  const [row] = await db.run<object>(findStatement, [id, scope.merchantId, scope.mode]);
  return row === undefined ? null : camelRow<TokenRow>(row);
}

// An external id may look like one of ours: an exact id of ours goes first.
const listStatement: Statement = {
  name: 'list-customer-tokens',
  text: `select ${columns} from payment_tokens k
    where k.status = 'active' and k.customer_id = (
      select c.id from customers c where c.merchant_id = $1 and c.mode = $2 and (c.id = $3 or c.external_customer_id = $3) order by c.id = $3 desc limit 1)
    order by k.created_at desc, k.id desc`,
};

/** Active tokens, newest first; empty for an unknown customer. @param customer the merchant's own id or ours */
export async function listCustomerTokens(db: Database, scope: Scope, customer: string): Promise<TokenRow[]> {
  return (await db.run<object>(listStatement, [scope.merchantId, scope.mode, customer])).map((row) => camelRow<TokenRow>(row));
}

/** Inside a transaction. */
export async function readToken(knex: Knex, scope: Scope, id: string): Promise<TokenRow | null> {
  const { rows } = await knex.raw<{ rows: object[] }>(`select ${columns} from payment_tokens k where k.id = ? and k.merchant_id = ? and k.mode = ?`, [id, scope.merchantId, scope.mode]);
  return rows[0] === undefined ? null : camelRow<TokenRow>(rows[0]);
}

export interface NewToken {
  readonly id: string;
  readonly customerId: string;
  readonly gateway: string;
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
  readonly fingerprint: string;
  readonly sealedReference: string;
}

/** Waits for a concurrent writer of the same card. @returns null when the customer has this card active already */
export async function insertToken(knex: Knex, scope: Scope, token: NewToken): Promise<TokenRow | null> {
  const { rows } = await knex.raw<{ rows: object[] }>(
    `insert into payment_tokens as k (id, merchant_id, mode, customer_id, gateway, brand, last4, expiry_month, expiry_year, fingerprint, sealed_reference)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (merchant_id, mode, customer_id, gateway, fingerprint) where status = 'active' do nothing
     returning ${columns}`,
    [
      token.id, scope.merchantId, scope.mode, token.customerId, token.gateway, token.brand, token.last4, token.expiryMonth, token.expiryYear,
      token.fingerprint, token.sealedReference,
    ] as string[],
  );
  return rows[0] === undefined ? null : camelRow<TokenRow>(rows[0]);
}

/** Locks the active token of a card. */
export async function lockActiveToken(knex: Knex, scope: Scope, card: Pick<NewToken, 'customerId' | 'gateway' | 'fingerprint'>): Promise<TokenRow | null> {
  const { rows } = await knex.raw<{ rows: object[] }>(
    `select ${columns} from payment_tokens k
     where k.merchant_id = ? and k.mode = ? and k.customer_id = ? and k.gateway = ? and k.fingerprint = ? and k.status = 'active' for update`,
    [scope.merchantId, scope.mode, card.customerId, card.gateway, card.fingerprint],
  );
  return rows[0] === undefined ? null : camelRow<TokenRow>(rows[0]);
}

/** A bank that renews a card keeps its number: the token goes on with the new date and reference. */
export async function renewToken(knex: Knex, id: string, card: Pick<NewToken, 'expiryMonth' | 'expiryYear' | 'sealedReference'>): Promise<void> {
  await knex.raw('update payment_tokens set expiry_month = ?, expiry_year = ?, sealed_reference = ? where id = ?', [card.expiryMonth, card.expiryYear, card.sealedReference, id]);
}

/** @returns the token as it is after it, deactivated now or before; null when there is none */
export async function deactivateTokenRow(knex: Knex, scope: Scope, id: string): Promise<TokenRow | null> {
  const { rows } = await knex.raw<{ rows: object[] }>(
    `update payment_tokens k set status = 'deactivated', deactivated_at = coalesce(k.deactivated_at, clock_timestamp())
     where k.id = ? and k.merchant_id = ? and k.mode = ? returning ${columns}`,
    [id, scope.merchantId, scope.mode],
  );
  return rows[0] === undefined ? null : camelRow<TokenRow>(rows[0]);
}

/** The card of an approved payment, with the reference its attempt charged. */
export interface ChargedCard {
  readonly gateway: string;
  readonly customerId: string | null;
  readonly payer: { readonly name: string | null; readonly email: string | null; readonly phone: string | null };
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
  readonly fingerprint: string;
  readonly sealedReference: string;
  /** What the reference is sealed to: the token that was charged, else the attempt. */
  readonly sealedFor: string;
}

const chargedCardStatement: Statement = {
  name: 'find-charged-card',
  text: `select t.gateway, t.customer_id, json_build_object('name', t.customer_name, 'email', t.customer_email, 'phone', t.customer_phone) as payer,
      a.card ->> 'brand' as brand, a.card ->> 'last4' as last4, (a.card ->> 'expiryMonth')::integer as expiry_month, (a.card ->> 'expiryYear')::integer as expiry_year,
      a.card ->> 'fingerprint' as fingerprint, a.sealed_card_reference as sealed_reference, coalesce(a.token_id, a.id) as sealed_for
    from transactions t join payment_attempts a on a.transaction_id = t.id and a.status = 'approved'
    where t.id = $1 and t.merchant_id = $2 and t.mode = $3`,
};

/** null when there is no such payment of the merchant's, or its card was never approved. */
export async function findChargedCard(db: Database, scope: Scope, paymentId: string): Promise<ChargedCard | null> {
  const [row] = await db.run<object>(chargedCardStatement, [paymentId, scope.merchantId, scope.mode]);
  return row === undefined ? null : camelRow<ChargedCard>(row);
}

/** What saving a card has to know of the merchant, all from one read. */
export interface TokenizePreconditions {
  readonly directCardLive: boolean;
  readonly defaultGateway: string;
  readonly customerIsKnown: boolean;
}

const preconditionsStatement: Statement = {
  name: 'tokenize-preconditions',
  text: `select m.direct_card_live, w.default_gateway,
      exists (select from customers c where c.id = $3 and c.merchant_id = w.merchant_id and c.mode = w.mode) as customer_is_known
    from merchant_settings w join merchants m on m.id = w.merchant_id where w.merchant_id = $1 and w.mode = $2`,
};

export async function readTokenizePreconditions(db: Database, scope: Scope, customerId: string | null): Promise<TokenizePreconditions> {
  const [row] = await db.run<object>(preconditionsStatement, [scope.merchantId, scope.mode, customerId]);
  if (row === undefined) throw new Error(`merchant ${scope.merchantId} has no settings`);
  return camelRow<TokenizePreconditions>(row);
}
