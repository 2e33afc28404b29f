// The card_setup_sessions table: creation with its idempotency answer, reads, and moves. Each move is a compare-and-set from
// `open`; the moment of Postgres' clock decides whether it was still time.
import type { Knex } from 'knex';
import type { CardSetupStatus } from '../domain/card-setup.ts';
import type { Mode, Scope } from '../domain/mode.ts';
import { BaseModel, camelRow } from './base.ts';
import { claimed } from './begin-claim.ts';
import { completedClaimCte, completedClaimParameter, type StoredClaim } from './completed-claim.ts';
import type { Database, Statement } from './database.ts';

export class CardSetup extends BaseModel {
  static override tableName = 'card_setup_sessions';
}

export interface NewCardSetup {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly customerId: string;
  readonly subscriptionId: string | null;
  readonly gateway: string;
  readonly successUrl: string;
  readonly failureUrl: string;
  readonly cancelUrl: string | null;
  readonly expiresAt: Date;
  readonly createdAt: Date;
}

export interface CardSetupRow extends NewCardSetup {
  readonly status: CardSetupStatus;
  readonly tokenId: string | null;
  readonly completedAt: Date | null;
  /** Postgres' clock at the time of reading. */
  readonly readAt: Date;
}

const columns = `s.id, s.merchant_id, s.mode, s.customer_id, s.subscription_id, s.gateway, s.status, s.success_url, s.failure_url, s.cancel_url,
  s.token_id, s.expires_at, s.completed_at, s.created_at, clock_timestamp() as read_at`;

const createStatement: Statement = {
  name: 'create-card-setup',
  text: `
    with ${completedClaimCte('card_setup_session', 5)},
    setup as (
      insert into card_setup_sessions (id, merchant_id, mode, customer_id, subscription_id, gateway, success_url, failure_url, cancel_url, expires_at,
        created_at, updated_at)
      select $1, $2, $3, s."customerId", s."subscriptionId", s.gateway, s."successUrl", s."failureUrl", s."cancelUrl", s."expiresAt", s."createdAt", s."createdAt"
      from jsonb_to_record($4::jsonb) as s("customerId" text, "subscriptionId" text, gateway text, "successUrl" text, "failureUrl" text, "cancelUrl" text,
        "expiresAt" timestamptz, "createdAt" timestamptz)
      where ${claimed(5)}
      returning id
    )
    select id from setup`,
};

/** @returns false when the idempotency key was taken meanwhile and nothing was written */
export async function insertCardSetup(db: Database, setup: NewCardSetup, claim: StoredClaim | null): Promise<boolean> {
  const rows = await db.runAlone(createStatement, [setup.id, setup.merchantId, setup.mode, JSON.stringify(setup), completedClaimParameter(claim)]);
  return rows.length > 0;
}

const findStatement: Statement = {
  name: 'find-card-setup',
  text: `select ${columns} from card_setup_sessions s where s.id = $1 and s.merchant_id = $2 and s.mode = $3`,
};

/** The merchant's card setup, or null when it is absent, another merchant's or another mode's. */
export async function findCardSetup(db: Database, scope: Scope, id: string): Promise<CardSetupRow | null> {
  const [row] = await db.run<object>(findStatement, [id, scope.merchantId, scope.mode]);
  return row === undefined ? null : camelRow<CardSetupRow>(row);
}

export interface CardSetupPageRow extends CardSetupRow {
  readonly merchant: { readonly name: string; readonly logoUrl: string | null; readonly primaryColor: string | null };
  readonly customerName: string | null;
  readonly card: { readonly brand: string; readonly last4: string } | null;
}

const pageStatement: Statement = {
  name: 'read-card-setup-page',
  text: `select ${columns}, c.name as customer_name, json_build_object('name', m.name, 'logoUrl', w.logo_url, 'primaryColor', w.primary_color) as merchant,
      case when k.id is not null then json_build_object('brand', k.brand, 'last4', k.last4) end as card
    from card_setup_sessions s join customers c on c.id = s.customer_id left join payment_tokens k on k.id = s.token_id
    join merchants m on m.id = s.merchant_id join merchant_settings w on w.merchant_id = s.merchant_id and w.mode = s.mode
    where s.id = $1`,
};

/** What the hosted page shows. Unscoped on purpose: the page's address proves itself by its mac. */
export async function readCardSetupPage(db: Database, id: string): Promise<CardSetupPageRow | null> {
  const [row] = await db.run<object>(pageStatement, [id]);
  return row === undefined ? null : camelRow<CardSetupPageRow>(row);
}

/** Locks an open setup whose time has not come; null when there is none any more. By id: the page has proved itself. */
export async function lockOpenCardSetup(trx: Knex.Transaction, id: string): Promise<CardSetupRow | null> {
  const { rows } = await trx.raw<{ rows: object[] }>(
    `select ${columns} from card_setup_sessions s where s.id = ? and s.status = 'open' and s.expires_at > clock_timestamp() for update`,
    [id],
  );
  return rows[0] === undefined ? null : camelRow<CardSetupRow>(rows[0]);
}

/** The row must be locked by `lockOpenCardSetup` in the same transaction. */
export async function markCardSetupCompleted(trx: Knex.Transaction, id: string, tokenId: string): Promise<void> {
  await trx.raw(
    `update card_setup_sessions set status = 'completed', token_id = ?, completed_at = clock_timestamp(), updated_at = clock_timestamp() where id = ? and status = 'open'`,
    [tokenId, id],
  );
}

const endStatement: Statement = {
  name: 'end-card-setup',
  text: `update card_setup_sessions set status = $2, updated_at = clock_timestamp()
    where id = $1 and status = 'open' and case when $2 = 'expired' then expires_at <= clock_timestamp() else expires_at > clock_timestamp() end`,
};
const statusStatement: Statement = {
  name: 'read-card-setup-status',
  text: `select status, expires_at from card_setup_sessions where id = $1`,
};

/**
 * Ends an open setup without a card: expired from `expires_at` on, cancelled before it.
 * @returns the status and end as they are afterwards; null when there is none
 */
export async function endCardSetupRow(db: Database, id: string, to: 'expired' | 'cancelled'): Promise<{ status: CardSetupStatus; expiresAt: Date } | null> {
  await db.runAlone(endStatement, [id, to]);
  const [row] = await db.run<object>(statusStatement, [id]);
  return row === undefined ? null : camelRow<{ status: CardSetupStatus; expiresAt: Date }>(row);
}

const rejectStatement: Statement = {
  name: 'count-rejected-card',
  text: `update card_setup_sessions set rejected_cards = rejected_cards + 1, status = case when rejected_cards + 1 >= $2::integer then 'failed' else status end,
      updated_at = clock_timestamp()
    where id = $1 and status = 'open' and expires_at > clock_timestamp() returning status`,
};

/** Counts a card the gateway refused; the last one allowed fails the setup. @returns its status, null when it was not open */
export async function countRejectedCard(db: Database, id: string, max: number): Promise<CardSetupStatus | null> {
  const [row] = await db.runAlone<{ status: CardSetupStatus }>(rejectStatement, [id, max]);
  return row?.status ?? null;
}

/** What starting a setup's workflow takes. */
export interface StartableCardSetup {
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly mode: Mode;
  readonly expiresAt: Date;
}

const waitingStatement: Statement = {
  name: 'waiting-card-setups',
  text: `select s.id, s.merchant_id, s.mode, s.expires_at, m.name as merchant_name
    from card_setup_sessions s join merchants m on m.id = s.merchant_id
    where s.status = 'open' and (s.expires_at < now() - interval '20 seconds' or (s.workflow_started_at is null and s.created_at < now() - interval '5 seconds'))
    order by s.expires_at limit $1`,
};

/** Open setups that have no workflow, or whose workflow should have ended them some time ago. Unscoped: sweep. */
export async function waitingCardSetups(db: Database, limit: number): Promise<StartableCardSetup[]> {
  return (await db.run<object>(waitingStatement, [limit])).map((row) => camelRow<StartableCardSetup>(row));
}

const startedStatement: Statement = {
  name: 'mark-card-setups-started',
  text: `update card_setup_sessions set workflow_started_at = now() where id = any($1::text[]) and workflow_started_at is null`,
};

export async function markCardSetupsStarted(db: Database, ids: readonly string[]): Promise<void> {
  await db.runAlone(startedStatement, [ids]);
}
