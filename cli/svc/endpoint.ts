// `svc endpoint create`: where a merchant's webhooks go.
import type { Command } from 'commander';
import { DomainError } from '../../domain/errors.ts';
import { eventNames } from '../../domain/event.ts';
import type { EventName } from '../../domain/event.ts';
import { findMerchant } from '../../models/merchant.ts';
import { createEndpoint } from '../../operations/create-endpoint.ts';
import { createKeyRing } from '../../platform/key-ring.ts';
import { presentNewEndpoint } from '../../presenters/webhook-endpoint.ts';
import { createTargetCheck } from '../../webhooks/url-guard.ts';
import { addListOption, addOption, list, print, required, scopeOf, text, withContext } from './context.ts';
import type { Context, Given } from './context.ts';

export function addEndpointCommands(program: Command): void {
  const group = program.command('endpoint').alias('endpoints').description('webhook endpoints');
  const create = group.command('create [url]').alias('add').description('send events to an address; its signing secret is shown').option('--json', 'print one JSON object');
  addOption(create, 'merchant', 'mer_…', ['merchant-id']);
  addOption(create, 'mode', 'test (default) or live');
  addOption(create, 'url', 'https address (http://localhost too, for test mode, where WEBHOOK_ALLOW_LOOPBACK is true)', ['target-url']);
  addListOption(create, 'events', 'event names, separated by commas (default: all)', ['event']);
  addOption(create, 'description', 'for people').action((positional: string | undefined, given: Given) =>
    withContext(async (context) => {
      const scope = scopeOf(given, context);
      if ((await findMerchant(context.db.knex, scope.merchantId)) === null) throw new DomainError('not_found', `There is no merchant ${scope.merchantId}.`);
      const { endpoint, secret } = await createEndpoint(depsOf(context), scope, {
        url: required(text(given, 'url', 'targetUrl') ?? positional, 'url', 'give --url https://…'),
        description: text(given, 'description') ?? null,
        events: eventsOf(list(given, 'events', 'event')),
        enabled: true,
      });
      print(given, presentNewEndpoint(endpoint, secret), [`endpoint  ${endpoint.id}  ${endpoint.url}`, `events    ${endpoint.events.join(', ')}`, `secret    ${secret}`]);
    }),
  );
}

function depsOf(context: Context): Parameters<typeof createEndpoint>[0] {
  if (context.config.masterKeys.length === 0) throw new Error('MASTER_KEY is required to seal the signing secret: the same as the service has.');
  const allowLoopback = context.config.webhookAllowLoopback || context.runtime?.webhook_allow_loopback === true;
  return { db: context.db, newId: context.newId, keyRing: createKeyRing(context.config.masterKeys), checkTarget: createTargetCheck({ allowLoopback }) };
}

function eventsOf(names: readonly string[]): readonly (EventName | '*')[] {
  if (names.length === 0) return ['*'];
  return names.map((name) => {
    const known = name === '*' || name === 'all' ? '*' : eventNames.find((event) => event === name);
    if (known === undefined) throw new DomainError('unsupported_event', `There is no event "${name}". Known: ${eventNames.join(', ')}, or * for all.`);
    return known;
  });
}
