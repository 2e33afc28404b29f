// `svc payment resolve`: settles by hand what no look-up could settle. Leaves an audit line in the service's log.
import { join } from 'node:path';
import type { Command } from 'commander';
import { validationError } from '../../domain/errors.ts';
import { knownGateway } from '../../gateways/catalogue.ts';
import type { OperationDeps } from '../../operations/deps.ts';
import { type ResolvedOutcome, resolvableOutcomes, resolvePayment } from '../../operations/resolve-payment.ts';
import { createKeyRing } from '../../platform/key-ring.ts';
import { createLog } from '../../platform/log.ts';
import { addOption, print, required, text, withContext } from './context.ts';
import type { Context, Given } from './context.ts';

export function addPaymentCommands(program: Command): void {
  const group = program.command('payment').alias('payments').description('payments that need a person');
  const resolve = group.command('resolve [payment]').description('settle a processing payment by what the gateway’s dashboard says').option('--json', 'print one JSON object');
  addOption(resolve, 'payment', 'txn_…', ['payment-id', 'id']);
  addOption(resolve, 'outcome', 'captured (it went through) or failed (it never happened); voided for an open void');
  addOption(resolve, 'reason', 'how this is known, for the audit log');
  addOption(resolve, 'gateway-transaction-id', 'the gateway’s own id of the payment').action((positional: string | undefined, given: Given) =>
    withContext(async (context) => {
      const outcome = outcomeOf(given);
      const result = await resolvePayment(
        { operations: operationsOf(context), lookupWindowMs: (gateway) => knownGateway(gateway)?.notFoundFinalAfterMs ?? longestWindowMs, audit: (entry) => audit(context, entry) },
        {
          paymentId: required(text(given, 'payment', 'paymentId', 'id') ?? positional, 'payment', 'give --payment txn_…'),
          outcome,
          reason: required(text(given, 'reason'), 'reason', 'give --reason "charge ch_1 is in the dashboard"'),
          gatewayTransactionId: text(given, 'gatewayTransactionId') ?? null,
        },
      );
      const shown = { id: result.id, merchant_id: result.merchantId, mode: result.mode, previous_status: result.previousStatus, status: result.status, outcome };
      print(given, shown, [`${result.id} is ${result.status} (was ${result.previousStatus}); its webhooks follow within half a minute`]);
    }),
  );
}

/** For a gateway this version does not know any more. */
const longestWindowMs = 24 * 60 * 60_000;

function outcomeOf(given: Given): ResolvedOutcome {
  const value = required(text(given, 'outcome'), 'outcome', `give --outcome ${resolvableOutcomes.join(', ')}`);
  const outcome = resolvableOutcomes.find((one) => one === value);
  if (outcome === undefined) throw validationError([{ path: 'outcome', code: 'invalid_value', message: `outcome must be one of ${resolvableOutcomes.join(', ')}.` }]);
  return outcome;
}

/** Deliveries are left to the running service: their first lease runs out, then the sweep sends them. */
function operationsOf({ config, db, newId, runtime }: Context): OperationDeps {
  if (config.masterKeys.length === 0) throw new Error('MASTER_KEY is required: the same as the service has.');
  return {
    db,
    newId,
    keyRing: createKeyRing(config.masterKeys),
    publicUrl: runtime?.public_url ?? config.publicUrl,
    offerDeliveries: () => undefined,
    gateways: { find: () => null, nameOf: (slug) => knownGateway(slug)?.name ?? slug },
    checkTarget: async (url) => url,
  };
}

/** Into the log of the service that runs on DATA_DIR, else to stderr: stdout is the command's answer. */
function audit({ config, runtime }: Context, entry: Readonly<Record<string, string>>): void {
  const where = runtime === null ? { write: (line: string) => void process.stderr.write(line) } : { file: join(config.dataDir, 'logs', 'service.log') };
  createLog({ level: 'info', name: 'svc', ...where }).warn({ audit: 'payment_resolved', ...entry }, 'a payment is resolved by hand');
}
