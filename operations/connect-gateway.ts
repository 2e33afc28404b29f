// Gives a merchant's mode an account at a gateway, or renews it. Only the operator's command line calls it: credentials
// never come in over the API.
import { DomainError, validationError, type FieldError } from '../domain/errors.ts';
import type { IdKind } from '../domain/id.ts';
import type { Mode, Scope } from '../domain/mode.ts';
import type { Database } from '../models/database.ts';
import { findGatewayAccount, type GatewayAccountRow, saveGatewayAccount } from '../models/gateway-account.ts';
import { findMerchant } from '../models/merchant.ts';
import type { KeyRing } from '../platform/key-ring.ts';
import { type GatewayCredentials, sealCredentials, sealNotificationSecret } from './gateway-credentials.ts';

export interface ConnectGatewayDeps {
  readonly db: Database;
  readonly keyRing: KeyRing;
  readonly newId: (kind: IdKind) => string;
  /** What is known of a gateway; null for one there is not. */
  readonly known: (slug: string) => ConnectableGateway | null;
}

export interface ConnectableGateway {
  readonly slug: string;
  readonly credentials: readonly string[];
  readonly check?: (credentials: GatewayCredentials, mode: Mode) => string | null;
}

export interface ConnectGatewayInput {
  readonly gateway: string;
  /** null keeps those of an account there already is. */
  readonly credentials: GatewayCredentials | null;
  readonly notificationSecret: string | null;
  readonly makeDefault: boolean;
}

/** @throws DomainError not_found (merchant), gateway_not_found, validation_failed naming what is missing, never its value */
export async function connectGateway(deps: ConnectGatewayDeps, scope: Scope, input: ConnectGatewayInput): Promise<GatewayAccountRow> {
  const gateway = deps.known(input.gateway);
  if (gateway === null) throw new DomainError('gateway_not_found', `There is no gateway "${input.gateway}".`, { param: 'gateway' });
  if ((await findMerchant(deps.db.knex, scope.merchantId)) === null) throw new DomainError('not_found', `There is no merchant ${scope.merchantId}.`);
  const renews = input.credentials === null && (await findGatewayAccount(deps.db, scope, gateway.slug)) !== null;
  const problems = renews ? [] : problemsOf(gateway, input.credentials ?? {}, scope.mode);
  if (problems.length > 0) throw validationError(problems);
  const { credentials, notificationSecret } = input;
  return saveGatewayAccount(deps.db, {
    ...scope,
    id: deps.newId('gatewayAccount'),
    gateway: gateway.slug,
    sealedCredentials: credentials === null || gateway.credentials.length === 0 ? null : sealCredentials(deps.keyRing, scope, gateway.slug, pick(gateway, credentials)),
    sealedNotificationSecret: notificationSecret === null ? null : sealNotificationSecret(deps.keyRing, scope, gateway.slug, notificationSecret),
    makeDefault: input.makeDefault,
  });
}

function problemsOf(gateway: ConnectableGateway, credentials: GatewayCredentials, mode: Mode): FieldError[] {
  const missing = gateway.credentials.filter((name) => (credentials[name] ?? '') === '');
  if (missing.length > 0) return missing.map((name) => ({ path: name, code: 'required', message: `${gateway.slug} needs ${name}.` }));
  const wrong = gateway.check?.(credentials, mode) ?? null;
  return wrong === null ? [] : [{ path: gateway.credentials[0] ?? 'credentials', code: 'invalid_value', message: wrong }];
}

function pick(gateway: ConnectableGateway, credentials: GatewayCredentials): GatewayCredentials {
  return Object.fromEntries(gateway.credentials.map((name) => [name, credentials[name] ?? '']));
}
