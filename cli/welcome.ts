// What `npm start` says when it is ready: where everything is, and one command that makes a checkout to pay.
import pc from 'picocolors';
import type { DemoMerchant } from './runtime-file.ts';

export interface Welcome {
  readonly publicUrl: string;
  readonly temporalUiUrl: string | null;
  readonly simulatorUrl: string;
  readonly demo: DemoMerchant | null;
  readonly dataDir: string;
  readonly firstStart: boolean;
}

export function welcomeText(facts: Welcome): string {
  const row = (name: string, value: string): string => `  ${pc.dim(name.padEnd(16))}${value}`;
  const lines = [
    '',
    pc.bold(`The payment checkout service is ready${facts.firstStart ? '' : ', with the data of its last run'}.`),
    '',
    row('API', pc.cyan(`${facts.publicUrl}/api/v1`)),
    row('Hosted pages', pc.cyan(`${facts.publicUrl}/checkout/…`) + pc.dim('  (the checkout_url of a session)')),
    row('Temporal UI', facts.temporalUiUrl === null ? pc.dim('that of your own server') : pc.cyan(facts.temporalUiUrl)),
    row('Data and logs', facts.dataDir),
  ];
  if (facts.demo !== null) lines.push(row('Demo test key', pc.green(facts.demo.test_key)), '', ...firstSession(facts.publicUrl, facts.demo.test_key));
  lines.push('', pc.dim('  Ctrl-C stops everything; the data stays.'), '');
  return lines.join('\n');
}

// The hosts are examples on purpose: with a test key any address may be redirected to.
function firstSession(publicUrl: string, key: string): string[] {
  const session = {
    amount: 2500,
    currency: 'USD',
    description: 'Two tickets',
    success_url: 'https://example.com/success',
    failure_url: 'https://example.com/failure',
    cancel_url: 'https://example.com/cancel',
  };
  return [
    '  Make a session, open its checkout_url, and pay:',
    '',
    `curl -sS ${publicUrl}/api/v1/checkout-sessions \\`,
    `  -H 'Authorization: Bearer ${key}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '${JSON.stringify(session)}'`,
    '',
    `  Test card       ${pc.green('4242 4242 4242 4242')}, any expiry in the future, any CVC ${pc.dim('(the page lists the others)')}`,
  ];
}
