// `svc key create | revoke`.
import type { Command } from 'commander';
import { createKey } from '../../operations/create-key.ts';
import { revokeKey } from '../../operations/revoke-key.ts';
import { addOption, print, required, scopeOf, text, withContext } from './context.ts';
import type { Given } from './context.ts';
import { shownKey } from './merchant.ts';

export function addKeyCommands(program: Command): void {
  const group = program.command('key').description('API keys');

  const create = group.command('create').description('one more key, shown once').option('--json', 'print one JSON object');
  addOption(create, 'merchant', 'mer_…', ['merchant-id']);
  addOption(create, 'mode', 'test (default) or live').action((given: Given) =>
    withContext(async (context) => {
      const { keyId, key } = await createKey(context, scopeOf(given, context));
      print(given, { key_id: keyId, key }, [`key id  ${keyId}`, `key     ${key}`, 'The key is shown only now.']);
    }),
  );

  const revoke = group.command('revoke [key]').description('end a key at once').option('--json', 'print one JSON object');
  addOption(revoke, 'key', 'its key_… id, or the key itself', ['key-id', 'id']).action((positional: string | undefined, given: Given) =>
    withContext(async ({ db }) => {
      const named = required(positional ?? text(given, 'key', 'keyId', 'id'), 'key', 'give its key_… id or the key itself');
      const key = await revokeKey({ db }, named);
      print(given, { key_id: key.id, ...shownKey(key) }, [`revoked ${key.id} (${key.prefix}…${key.last4})`]);
    }),
  );
}
