// Draws docs/states.md from the state tables in domain/, so that the drawing cannot drift from the code.
// `node --import tsx docs/draw-states.ts` writes it; test/unit/docs/drawn.test.ts fails when it is not up to date.
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { cardSetupMinutes, cardSetupTransitions } from '../domain/card-setup.ts';
import {
  authenticationGraceMs,
  inFlightStatuses,
  isTerminal,
  lastClaimBeforeExpiryMs,
  sessionStatuses,
  sessionTransitions,
} from '../domain/checkout-session.ts';
import { attemptWaitsMs } from '../domain/delivery-schedule.ts';
import { automationEvents, eventNames } from '../domain/event.ts';
import { lookupWaitsMs } from '../domain/reconcile-schedule.ts';
import { attemptStatuses, openAttemptStatuses, transactionStatuses, transactionTransitions } from '../domain/transaction.ts';

export const statesFile = new URL('states.md', import.meta.url);

export function drawStates(): string {
  return `# States

Drawn from the tables in \`domain/\` by \`docs/draw-states.ts\`. Do not edit: run \`node --import tsx docs/draw-states.ts\`.

## Checkout session

A session is created \`open\` and ends exactly once; what has ended stays as it is. A customer who wants to try again gets a
new session (\`POST /checkout-sessions/{id}/recover\`).

${diagram(sessionTransitions, 'open', sessionStatuses.filter(isTerminal))}

${table(['From', 'To', 'By', 'Events'], sessionTransitions.map((move) => [code(move.from), code(move.to), move.by, move.events.map(code).join(', ')]))}

- While its payment is ${inFlightStatuses.map(code).join(' or ')}, an attempt is in flight: the session stays \`open\`, also past its end, and
  neither cancelling nor expiring is possible.
- No attempt begins from ${lastClaimBeforeExpiryMs} ms before \`expires_at\`; one that began earlier may finish later.
- An authentication that nobody finishes is given up ${authenticationGraceMs / 60_000} minutes after \`expires_at\`. The gateway's answer then decides.

## Card setup

A hosted page that saves a card of a customer and charges nothing. It lives ${cardSetupMinutes} minutes and emits no event.

${diagram(cardSetupTransitions, 'open', sessionStatuses.filter(isTerminal))}

${table(['From', 'To', 'By'], cardSetupTransitions.map((move) => [code(move.from), code(move.to), move.by]))}

A card the gateway refuses is told beside its field and leaves the setup open, until it was one too many.

## Payment

${code('processing')} means that the gateway's answer is not known yet: it is looked up, never guessed and never charged again.

${diagram(transactionTransitions, 'pending', terminalStatuses())}

${table(['From', 'To', 'By'], transactionTransitions.map((move) => [code(move.from), code(move.to), move.by]))}

An unknown outcome is looked up after ${lookupWaitsMs.slice(0, -1).map(inWords).join(', then ')}, then every ${inWords(lookupWaitsMs.at(-1) ?? 0)}.

## Attempt

One try to charge: ${attemptStatuses.map(code).join(', ')}. A payment has at most one attempt that is
${openAttemptStatuses.map(code).join(', ')}; the database holds this by a unique index.

## Events

${table(['Event', 'Offered to automation platforms'], eventNames.map((name) => [code(name), (automationEvents as readonly string[]).includes(name) ? 'yes' : '']))}

## Webhook delivery

${attemptWaitsMs.length} attempts. Each waits after the one before it, with up to a tenth added:

${table(['Attempt', 'Waits'], attemptWaitsMs.map((wait, index) => [String(index + 1), wait === 0 ? 'sent at once' : inWords(wait)]))}
`;
}

function terminalStatuses(): string[] {
  return transactionStatuses.filter((status) => !transactionTransitions.some((move) => move.from === status));
}

function diagram(moves: readonly { from: string; to: string; by: string }[], start: string, ends: readonly string[]): string {
  const lines = [`[*] --> ${start}`, ...moves.map((move) => `${move.from} --> ${move.to}: ${move.by}`), ...ends.map((end) => `${end} --> [*]`)];
  return ['```mermaid', 'stateDiagram-v2', ...lines.map((line) => `  ${line}`), '```'].join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}

/** @param ms a whole number of seconds, minutes or hours */
function inWords(ms: number): string {
  const [amount, unit] = ms % 3_600_000 === 0 ? [ms / 3_600_000, 'hour'] : ms % 60_000 === 0 ? [ms / 60_000, 'minute'] : [ms / 1000, 'second'];
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(statesFile, drawStates());
