// `svc gateway connect | list | disable`: which merchant may use which gateway, with what. Secrets go in and are never shown.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { DomainError, validationError } from '../../domain/errors.ts';
import { modes } from '../../domain/mode.ts';
import { knownGateway, knownGateways } from '../../gateways/catalogue.ts';
import { disableGatewayAccount, type GatewayAccountRow, listGatewayAccounts } from '../../models/gateway-account.ts';
import { connectGateway } from '../../operations/connect-gateway.ts';
import type { GatewayCredentials } from '../../operations/gateway-credentials.ts';
import { createKeyRing } from '../../platform/key-ring.ts';
import { addOption, print, required, scopeOf, text, withContext } from './context.ts';
import type { Context, Given } from './context.ts';

export function addGatewayCommands(program: Command): void {
  const group = program.command('gateway').alias('gateways').description('accounts at payment gateways');

  const connect = named(group.command('connect [gateway]').description('give a merchant an account at a gateway, or renew it')).option('--json', 'print one JSON object');
  addOption(connect, 'secret-key', 'the secret API key of the account; @file reads it from a file', ['secret', 'api-key']);
  addOption(connect, 'credentials', 'the same as a JSON object, or @file');
  addOption(connect, 'notification-secret', 'what the gateway signs its notifications with; @file reads it from a file', ['webhook-secret']);
  connect.option('--default', 'payments that name no gateway go here').action((positional: string | undefined, given: Given) =>
    withContext(async (context) => {
      const notificationSecret = secretOf(given, 'notificationSecret', 'webhookSecret');
      const account = await connectGateway({ ...context, keyRing: keyRingOf(context), known: knownGateway }, scopeOf(given, context), {
        gateway: slugOf(given, positional),
        credentials: credentialsOf(given),
        notificationSecret: notificationSecret ?? null,
        makeDefault: given['default'] === true,
      });
      print(given, shown(account, context), lines(account, context));
    }),
  );

  const all = group.command('list').description('connected accounts').option('--json', 'print one JSON object');
  addOption(all, 'merchant', 'mer_… (default: all)', ['merchant-id']);
  addOption(all, 'mode', 'test or live (default: both)').action((given: Given) =>
    withContext(async (context) => {
      const mode = text(given, 'mode');
      if (mode !== undefined && !modes.some((one) => one === mode)) throw validationError([{ path: 'mode', code: 'invalid_value', message: 'mode must be test or live.' }]);
      const accounts = await listGatewayAccounts(context.db, { merchantId: text(given, 'merchant', 'merchantId') ?? null, mode: modes.find((one) => one === mode) ?? null });
      const gateways = knownGateways.map(({ slug, name, needsAccount }) => ({ slug, name, needs_account: needsAccount }));
      print(given, { data: accounts.map((account) => shown(account, context)), gateways }, accounts.length === 0 ? ['none'] : accounts.flatMap((account) => lines(account, context)));
    }),
  );

  named(group.command('disable [gateway]').alias('disconnect').description('keep new payments away; what was begun there goes on'))
    .option('--json', 'print one JSON object')
    .action((positional: string | undefined, given: Given) =>
      withContext(async (context) => {
        const scope = scopeOf(given, context);
        const gateway = slugOf(given, positional);
        if (!(await disableGatewayAccount(context.db, scope, gateway))) throw new DomainError('not_found', `${scope.merchantId} has no ${scope.mode} account at ${gateway}.`);
        print(given, { merchant_id: scope.merchantId, mode: scope.mode, gateway, enabled: false }, [`${gateway} is disabled for ${scope.merchantId} (${scope.mode})`]);
      }),
    );
}

function named(command: Command): Command {
  addOption(command, 'merchant', 'mer_…', ['merchant-id']);
  addOption(command, 'mode', 'test (default) or live');
  return addOption(command, 'gateway', `one of ${knownGateways.map((gateway) => gateway.slug).join(', ')}`, ['slug']);
}

function slugOf(given: Given, positional: string | undefined): string {
  return required(text(given, 'gateway', 'slug') ?? positional, 'gateway', 'give --gateway stripe');
}

function keyRingOf({ config }: Context): ReturnType<typeof createKeyRing> {
  if (config.masterKeys.length === 0) throw new Error('MASTER_KEY is required to seal the credentials: the same as the service has.');
  return createKeyRing(config.masterKeys);
}

/** From --credentials or --secret-key; null when neither is given. */
function credentialsOf(given: Given): GatewayCredentials | null {
  const secretKey = secretOf(given, 'secretKey', 'secret', 'apiKey');
  const json = secretOf(given, 'credentials');
  if (json === undefined) return secretKey === undefined ? null : { secretKey };
  return { ...(secretKey === undefined ? {} : { secretKey }), ...parseCredentials(json) };
}

/** Names may be written secret_key or secretKey. */
function parseCredentials(json: string): GatewayCredentials {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const entries = Object.entries(value).map(([name, secret]) => [name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), String(secret)]);
      return Object.fromEntries(entries) as GatewayCredentials;
    }
  } catch {
    // The parser's message would repeat what may be a secret.
  }
  throw validationError([{ path: 'credentials', code: 'invalid_value', message: 'credentials must be a JSON object such as {"secret_key": "sk_test_…"}.' }]);
}

/** A command line is seen by every user of the machine, so a secret can come from a file. */
function secretOf(given: Given, ...names: readonly string[]): string | undefined {
  const value = text(given, ...names);
  if (value?.startsWith('@') !== true) return value;
  try {
    return readFileSync(value.slice(1), 'utf8').trim();
  } catch {
    throw validationError([{ path: names[0] ?? '', code: 'invalid_value', message: `The file ${value.slice(1)} cannot be read.` }]);
  }
}

function notificationUrl(account: GatewayAccountRow, { runtime, config }: Context): string {
  return `${runtime?.public_url ?? config.publicUrl}/gateway-notifications/${account.gateway}?account=${account.id}`;
}

function shown(account: GatewayAccountRow, context: Context): object {
  const { id, merchantId, mode, gateway, enabled, isDefault, createdAt, updatedAt } = account;
  return {
    id,
    merchant_id: merchantId,
    mode,
    gateway,
    name: knownGateway(gateway)?.name ?? gateway,
    enabled,
    default: isDefault,
    has_notification_secret: account.sealedNotificationSecret !== null,
    notification_url: notificationUrl(account, context),
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

function lines(account: GatewayAccountRow, context: Context): string[] {
  const { id, merchantId, mode, gateway } = account;
  const facts = [account.enabled ? 'enabled' : 'disabled', ...(account.isDefault ? ['default'] : [])].join(', ');
  const heard = account.sealedNotificationSecret === null ? 'no notification secret: its notifications are refused' : `notifications: ${notificationUrl(account, context)}`;
  return [`${id}  ${merchantId}  ${mode}  ${gateway}  ${facts}`, ...(knownGateway(gateway)?.needsAccount === true ? [`  ${heard}`] : [])];
}
