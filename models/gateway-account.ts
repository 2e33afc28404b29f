// The gateway_accounts table: which merchant may use which real gateway, with what. Credentials come and go sealed; this
// file never opens them.
import type { Mode, Scope } from '../domain/mode.ts';
import { camelRow } from './base.ts';
import type { Database, Statement } from './database.ts';

export interface GatewayAccountRow {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly gateway: string;
  readonly enabled: boolean;
  /** null: the gateway asks for none. */
  readonly sealedCredentials: string | null;
  /** null: the gateway's notifications are not verified for this account, and so not heard. */
  readonly sealedNotificationSecret: string | null;
  readonly isDefault: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const accountColumns = `a.*, coalesce(w.default_gateway = a.gateway, false) as is_default`;

const saveStatement: Statement = {
  name: 'save-gateway-account',
  text: `
    with a as (
      insert into gateway_accounts (id, merchant_id, mode, gateway, sealed_credentials, sealed_notification_secret)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (merchant_id, mode, gateway) do update set enabled = true, updated_at = now(),
        sealed_credentials = coalesce(excluded.sealed_credentials, gateway_accounts.sealed_credentials),
        sealed_notification_secret = coalesce(excluded.sealed_notification_secret, gateway_accounts.sealed_notification_secret)
      returning *
    ),
    w as (
      update merchant_settings w set default_gateway = case when $7::boolean then $4 else w.default_gateway end
      from a where w.merchant_id = a.merchant_id and w.mode = a.mode
      returning w.default_gateway
    )
    select ${accountColumns} from a left join w on true`,
};

export interface NewGatewayAccount extends Scope {
  /** Kept only when there was no account yet. */
  readonly id: string;
  readonly gateway: string;
  /** null keeps what was there. */
  readonly sealedCredentials: string | null;
  readonly sealedNotificationSecret: string | null;
  /** Payments that name no gateway go here from now on. */
  readonly makeDefault: boolean;
}

/** Connects, or renews what is connected; enabled afterwards either way. */
export async function saveGatewayAccount(db: Database, account: NewGatewayAccount): Promise<GatewayAccountRow> {
  const { id, merchantId, mode, gateway, sealedCredentials, sealedNotificationSecret, makeDefault } = account;
  const [row] = await db.runAlone<object>(saveStatement, [id, merchantId, mode, gateway, sealedCredentials, sealedNotificationSecret, makeDefault]);
  if (row === undefined) throw new Error('a gateway account was not written');
  return camelRow<GatewayAccountRow>(row);
}

const disableStatement: Statement = {
  name: 'disable-gateway-account',
  text: `update gateway_accounts set enabled = false, updated_at = now() where merchant_id = $1 and mode = $2 and gateway = $3 returning id`,
};

/** New payments stay away from it; what was begun there is still looked up, captured and refunded. @returns whether there was one */
export async function disableGatewayAccount(db: Database, scope: Scope, gateway: string): Promise<boolean> {
  return (await db.runAlone(disableStatement, [scope.merchantId, scope.mode, gateway])).length > 0;
}

const findStatement: Statement = {
  name: 'find-gateway-account',
  text: `select ${accountColumns} from gateway_accounts a join merchant_settings w using (merchant_id, mode)
    where a.merchant_id = $1 and a.mode = $2 and a.gateway = $3`,
};

/** Enabled or not. */
export async function findGatewayAccount(db: Database, scope: Scope, gateway: string): Promise<GatewayAccountRow | null> {
  const [row] = await db.run<object>(findStatement, [scope.merchantId, scope.mode, gateway]);
  return row === undefined ? null : camelRow<GatewayAccountRow>(row);
}

const listStatement: Statement = {
  name: 'list-gateway-accounts',
  text: `select ${accountColumns} from gateway_accounts a join merchant_settings w using (merchant_id, mode)
    where ($1::text is null or a.merchant_id = $1) and ($2::text is null or a.mode::text = $2) order by a.merchant_id, a.mode, a.gateway`,
};

/** For the operator: of one merchant and mode, or of all where null. */
export async function listGatewayAccounts(db: Database, filter: { merchantId: string | null; mode: Mode | null }): Promise<GatewayAccountRow[]> {
  return (await db.run<object>(listStatement, [filter.merchantId, filter.mode])).map((row) => camelRow<GatewayAccountRow>(row));
}

const connectedStatement: Statement = {
  name: 'connected-gateways',
  text: `select gateway from gateway_accounts where merchant_id = $1 and mode = $2 and enabled`,
};

/** Slugs of the gateways new payments of this merchant and mode may go to by an account of their own. */
export async function connectedGateways(db: Database, scope: Scope): Promise<string[]> {
  return (await db.run<{ gateway: string }>(connectedStatement, [scope.merchantId, scope.mode])).map((row) => row.gateway);
}

const notifiedStatement: Statement = {
  name: 'gateway-accounts-notified',
  text: `select ${accountColumns} from gateway_accounts a join merchant_settings w using (merchant_id, mode)
    where a.gateway = $1 and a.sealed_notification_secret is not null and ($2::text is null or a.id = $2)
    order by a.created_at limit $3`,
};

/** Accounts whose notification secret may have signed. Unscoped: a notification shows who it is for by its signature alone. */
export async function accountsNotifiedBy(db: Database, gateway: string, accountId: string | null, limit: number): Promise<GatewayAccountRow[]> {
  return (await db.run<object>(notifiedStatement, [gateway, accountId, limit])).map((row) => camelRow<GatewayAccountRow>(row));
}
