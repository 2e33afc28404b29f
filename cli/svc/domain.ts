// `svc domain add | list | remove`: hosts that live sessions may redirect to.
import type { Command } from 'commander';
import { DomainError, validationError } from '../../domain/errors.ts';
import { normaliseHostname } from '../../domain/hostname.ts';
import { deleteDomain, domainKinds, listDomains } from '../../models/domain.ts';
import type { Domain, DomainKind } from '../../models/domain.ts';
import { findMerchant } from '../../models/merchant.ts';
import { registerDomain } from '../../operations/register-domain.ts';
import { addOption, print, required, scopeOf, text, withContext } from './context.ts';
import type { Context, Given } from './context.ts';

// Redirect hosts matter to live keys only, so that is what somebody who names no mode means.
const liveUnlessNamed = (given: Given): Given => ({ mode: 'live', ...given });

export function addDomainCommands(program: Command): void {
  const group = program.command('domain').alias('domains').description('hosts that customers may be redirected to');

  const add = named(group.command('add [hostname]').alias('create').description('register a host, effective at once')).option('--json', 'print one JSON object');
  addOption(add, 'kind', `${domainKinds.join(' or ')} (default payment_redirect)`).action((positional: string | undefined, given: Given) =>
    withContext(async (context) => {
      const scope = await existing(liveUnlessNamed(given), context);
      const domain = await registerDomain(context.db.knex, scope, { hostname: hostnameOf(given, positional), kind: kindOf(given) });
      print(given, shown(domain), [`${domain.hostname} is registered (${domain.kind}, ${domain.mode})`]);
    }),
  );

  const all = group.command('list').description('registered hosts').option('--json', 'print one JSON object');
  addOption(all, 'merchant', 'mer_…', ['merchant-id']);
  addOption(all, 'mode', 'live (default) or test').action((given: Given) =>
    withContext(async (context) => {
      const domains = await listDomains(context.db, await existing(liveUnlessNamed(given), context));
      print(given, { data: domains.map(shown) }, domains.length === 0 ? ['none'] : domains.map((domain) => `${domain.hostname}  ${domain.kind}`));
    }),
  );

  named(group.command('remove [hostname]').alias('delete').description('take a host off the list'))
    .option('--json', 'print one JSON object')
    .action((positional: string | undefined, given: Given) =>
      withContext(async (context) => {
        const hostname = hostnameOf(given, positional);
        const removed = await deleteDomain(context.db, await existing(liveUnlessNamed(given), context), normaliseHostname(hostname) ?? hostname);
        if (!removed) throw new DomainError('not_found', `${hostname} is not registered.`);
        print(given, { hostname, removed: true }, [`${hostname} is removed`]);
      }),
    );
}

function named(command: Command): Command {
  addOption(command, 'merchant', 'mer_…', ['merchant-id']);
  addOption(command, 'hostname', 'such as shop.example.com', ['host', 'domain']);
  return addOption(command, 'mode', 'live (default) or test');
}

async function existing(given: Given, context: Context): Promise<ReturnType<typeof scopeOf>> {
  const scope = scopeOf(given, context);
  if ((await findMerchant(context.db.knex, scope.merchantId)) === null) throw new DomainError('not_found', `There is no merchant ${scope.merchantId}.`);
  return scope;
}

function hostnameOf(given: Given, positional: string | undefined): string {
  return required(text(given, 'hostname', 'host', 'domain') ?? positional, 'hostname', 'give --hostname shop.example.com');
}

function kindOf(given: Given): DomainKind {
  const value = (text(given, 'kind') ?? 'payment_redirect').replaceAll('-', '_');
  const kind = domainKinds.find((one) => one === value);
  if (kind === undefined) throw validationError([{ path: 'kind', code: 'invalid_value', message: `kind must be ${domainKinds.join(' or ')}.` }]);
  return kind;
}

function shown(domain: Domain): object {
  return { merchant_id: domain.merchantId, mode: domain.mode, hostname: domain.hostname, kind: domain.kind, created_at: domain.createdAt?.toISOString() ?? null };
}
