// Draws docs/test-cards.md from the table of test cards. `node --import tsx docs/draw-test-cards.ts` writes it;
// test/unit/docs/drawn.test.ts fails when it is not up to date.
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { brandOf, testCards } from '../domain/card.ts';

export const testCardsFile = new URL('test-cards.md', import.meta.url);

export function drawTestCards(): string {
  const rows = testCards.map(({ number, does }) => `| \`${grouped(number)}\` | ${brandOf(number)} | ${does} |`);
  return `# Test cards

Drawn from \`domain/card.ts\`. Do not edit: run \`node --import tsx docs/draw-test-cards.ts\`.

The simulated gateway never moves money. Any expiry in the future and any security code of the right length will do. In test
mode the hosted page has this table too: a click fills the form.

| Number | Brand | Does |
| --- | --- | --- |
${rows.join('\n')}

- **3DS**: the bank's page offers "Complete" and "Fail". Closing it is a third way: come back to the checkout and it asks again.
- **The answer is lost**: the payment is \`processing\` until the gateway has been asked, about ten seconds later. Paying again is
  not possible meanwhile.
- **Never answers**: nothing was charged, which is only certain after the gateway's own deadline: the session fails within
  about a minute.
- There are two simulated gateways, \`simulator\` (the default) and \`simulator_b\`. Name one as \`gateway\` when creating a session.

A whole gateway can be switched too, on the simulator's own port (\`simulator.url\` in \`DATA_DIR/runtime.json\`):

\`\`\`sh
curl -X POST "$SIMULATOR_URL/control" -H 'content-type: application/json' \\
  -d '{"slug": "simulator", "behaviour": "down", "for_ms": 30000}'
\`\`\`

\`behaviour\` is \`ok\`, \`down\`, \`hang\`, \`slow\` or \`malformed\`. \`GET /ledger?reference=txn_…\` shows what really happened there.
`;
}

/** As printed on a card: 4-6-5 for fifteen digits, else fours. */
function grouped(number: string): string {
  return number.length === 15 ? number.replace(/^(\d{4})(\d{6})(\d{5})$/, '$1 $2 $3') : number.replace(/(\d{4})(?=\d)/g, '$1 ');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(testCardsFile, drawTestCards());
