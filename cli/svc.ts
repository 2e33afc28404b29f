// `npm run svc -- …`: the operator's command line. Reads DATABASE_URL, or what `npm start` left in DATA_DIR. It parses and
// prints; what it does is in operations/, the same verbs the API uses.
import { Command, CommanderError } from 'commander';
import { DomainError } from '../domain/errors.ts';
import { scrubText } from '../platform/scrub.ts';
import { addDomainCommands } from './svc/domain.ts';
import { addEndpointCommands } from './svc/endpoint.ts';
import { addGatewayCommands } from './svc/gateway.ts';
import { addKeyCommands } from './svc/key.ts';
import { addMerchantCommands } from './svc/merchant.ts';
import { addPaymentCommands } from './svc/payment.ts';

const program = new Command('svc');
program.description('Operate a payment checkout service: merchants, keys, redirect domains, webhook endpoints, gateway accounts, unsettled payments.');
program.configureHelp({ sortSubcommands: true });
addMerchantCommands(program);
addKeyCommands(program);
addDomainCommands(program);
addEndpointCommands(program);
addGatewayCommands(program);
addPaymentCommands(program);
const asJson = process.argv.includes('--json');
for (const command of [program, ...program.commands, ...program.commands.flatMap((group) => group.commands)]) {
  command.exitOverride();
  if (asJson) command.configureOutput({ writeErr: () => undefined });
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  fail(error);
}

// With --json the answer is one JSON object also when it is a refusal; the exit code tells the two apart.
function fail(error: unknown): never {
  // Of bad fields, what is wrong with each; "see errors" is for readers of the API's body.
  const fields = error instanceof DomainError ? (error.detail.errors ?? []).map((field) => field.message) : [];
  const message = scrubText(fields.length > 0 ? fields.join('\n') : error instanceof Error ? error.message || error.name : String(error));
  const code = error instanceof DomainError || error instanceof CommanderError ? error.code : 'failed';
  if (asJson) process.stdout.write(`${JSON.stringify({ error: message.replace(/^error: /, ''), code })}\n`);
  else if (!(error instanceof CommanderError)) process.stderr.write(`${message}\n`);
  process.exit(1);
}
