// `svc merchant create | show | direct-cards`.
import type { Command } from 'commander';
import { allowDirectCards } from '../../operations/allow-direct-cards.ts';
import { createMerchant } from '../../operations/create-merchant.ts';
import { showMerchant } from '../../operations/show-merchant.ts';
import type { ApiKeyRow } from '../../models/api-key.ts';
import { addOption, print, required, text, withContext } from './context.ts';
import type { Given } from './context.ts';

export function addMerchantCommands(program: Command): void {
  const group = program.command('merchant').description('merchants');

  const create = group.command('create [name]').description('set up a merchant with a test key and a live key, shown once').option('--json', 'print one JSON object');
  addOption(create, 'name', 'the name customers see').action((positional: string | undefined, given: Given) =>
    withContext(async ({ db, newId }) => {
      const name = required(text(given, 'name') ?? positional, 'name', 'give --name "Demo Store"');
      const { merchantId, test, live } = await createMerchant({ db, newId }, { name });
      print(given, { merchant_id: merchantId, test_key: test.key, live_key: live.key }, [
        `merchant  ${merchantId}`,
        `test key  ${test.key}`,
        `live key  ${live.key}`,
        'The keys are shown only now.',
      ]);
    }),
  );

  const show = group.command('show [id]').description('a merchant and its keys').option('--json', 'print one JSON object');
  addOption(show, 'merchant', 'mer_…', ['merchant-id', 'id']).action((positional: string | undefined, given: Given) =>
    withContext(async (context) => {
      const id = required(positional ?? text(given, 'merchant', 'merchantId', 'id') ?? context.runtime?.demo?.merchant_id, 'merchant', 'give its mer_… id');
      const merchant = await showMerchant(context, id);
      print(given, { merchant_id: merchant.id, name: merchant.name, created_at: merchant.createdAt.toISOString(), keys: merchant.keys.map(shownKey) }, [
        `${merchant.id}  ${merchant.name}`,
        ...merchant.keys.map((key) => `  ${key.id}  ${key.prefix}…${key.last4}  ${stateOf(key)}`),
      ]);
    }),
  );

  const direct = group.command('direct-cards [id]').description('let a merchant send card data itself with live keys').option('--off', 'no longer').option('--json', 'print one JSON object');
  addOption(direct, 'merchant', 'mer_…', ['merchant-id', 'id']).action((positional: string | undefined, given: Given) =>
    withContext(async (context) => {
      const id = required(positional ?? text(given, 'merchant', 'merchantId', 'id'), 'merchant', 'give its mer_… id');
      const allowed = given['off'] !== true;
      await allowDirectCards(context, id, allowed);
      print(given, { merchant_id: id, direct_cards: allowed }, [`${id} may ${allowed ? '' : 'not '}send card data with live keys.`]);
    }),
  );
}

/** A key as it may be shown: never whole. */
export function shownKey(key: ApiKeyRow): object {
  const iso = (at: Date | null): string | null => at?.toISOString() ?? null;
  return { id: key.id, mode: key.mode, prefix: key.prefix, last4: key.last4, created_at: iso(key.createdAt), last_used_at: iso(key.lastUsedAt), expires_at: iso(key.expiresAt), revoked_at: iso(key.revokedAt) };
}

function stateOf(key: ApiKeyRow): string {
  if (key.revokedAt !== null) return `revoked ${key.revokedAt.toISOString()}`;
  if (key.expiresAt !== null) return `valid until ${key.expiresAt.toISOString()}`;
  return key.lastUsedAt === null ? 'never used' : `last used ${key.lastUsedAt.toISOString()}`;
}
