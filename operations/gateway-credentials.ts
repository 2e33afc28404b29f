// Seals and opens what a merchant's account at a gateway consists of. Opened ones live as long as the call they are for.
import type { Scope } from '../domain/mode.ts';
import type { Database } from '../models/database.ts';
import { accountsNotifiedBy, findGatewayAccount } from '../models/gateway-account.ts';
import type { KeyRing } from '../platform/key-ring.ts';
import { seal, unseal } from '../platform/seal.ts';

export type GatewayCredentials = Readonly<Record<string, string>>;

interface Deps {
  readonly db: Database;
  readonly keyRing: KeyRing;
}

/** Trying each costs an HMAC; an installation with more accounts gives each its own address (`?account=`). */
const mostTried = 50;

// Two texts of one row, two contexts: neither can stand in for the other.
const credentialsContext = (scope: Scope, gateway: string): string => `${scope.merchantId}:${scope.mode}:${gateway}`;
const notificationContext = (scope: Scope, gateway: string): string => `${credentialsContext(scope, gateway)}:notification`;

export function sealCredentials(keyRing: KeyRing, scope: Scope, gateway: string, credentials: GatewayCredentials): string {
  return seal(keyRing, 'gateway-token', credentialsContext(scope, gateway), JSON.stringify(credentials));
}

export function sealNotificationSecret(keyRing: KeyRing, scope: Scope, gateway: string, secret: string): string {
  return seal(keyRing, 'gateway-token', notificationContext(scope, gateway), secret);
}

/** Of a disabled account too: what was begun there has to be finished. Read for each call, so that a renewed key counts at once. */
export async function readCredentials(deps: Deps, scope: Scope, gateway: string): Promise<GatewayCredentials | null> {
  const account = await findGatewayAccount(deps.db, scope, gateway);
  if (account === null || account.sealedCredentials === null) return null;
  return JSON.parse(unseal(deps.keyRing, 'gateway-token', credentialsContext(scope, gateway), account.sealedCredentials)) as GatewayCredentials;
}

/** The notification secrets of all accounts at a gateway, or of one. */
export async function readNotificationSecrets(deps: Deps, gateway: string, accountId: string | null): Promise<{ secret: string; owner: Scope }[]> {
  const accounts = await accountsNotifiedBy(deps.db, gateway, accountId, mostTried);
  return accounts.flatMap(({ merchantId, mode, sealedNotificationSecret }) => {
    const owner = { merchantId, mode };
    return sealedNotificationSecret === null ? [] : [{ owner, secret: unseal(deps.keyRing, 'gateway-token', notificationContext(owner, gateway), sealedNotificationSecret) }];
  });
}
