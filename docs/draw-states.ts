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
import { operationStatuses, operationTransitions } from '../domain/payment-operation.ts';
import { lookupWaitsMs } from '../domain/reconcile-schedule.ts';
import { refundStatuses, refundSteps, refundTransitions } from '../domain/refund.ts';
import { attemptStatuses, authorizationLapseMs, maxRefunds, openAttemptStatuses, transactionStatuses, transactionTransitions } from '../domain/transaction.ts';

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

${diagram(transactionTransitions, 'pending', ends(transactionStatuses, transactionTransitions))}

${table(['From', 'To', 'By'], transactionTransitions.map((move) => [code(move.from), code(move.to), move.by]))}

An unknown outcome is looked up after ${lookupWaitsMs.slice(0, -1).map(inWords).join(', then ')}, then every ${inWords(lookupWaitsMs.at(-1) ?? 0)}.

## Attempt

One try to charge: ${attemptStatuses.map(code).join(', ')}. A payment has at most one attempt that is
${openAttemptStatuses.map(code).join(', ')}; the database holds this by a unique index.

## Capture and void

The operation behind \`POST /payments/{id}/capture\` or \`/void\`. A payment has at most one that is not over; the database holds this
by a unique index. One that failed or reached nobody leaves the authorisation as it was.

${diagram(operationTransitions, 'requested', ends(operationStatuses, operationTransitions))}

${table(['From', 'To', 'By'], operationTransitions.map((move) => [code(move.from), code(move.to), move.by]))}

An authorisation that nobody captures is voided after ${inDays(authorizationLapseMs)}; the payment is \`expired\` then.

## Refund

${diagram(refundTransitions, 'pending', ends(refundStatuses, refundTransitions))}

${table(['From', 'To', 'By', 'Events'], refundTransitions.map((move) => [code(move.from), code(move.to), move.by, move.events.map(code).join(', ')]))}

- A \`pending\` refund holds its amount. Behind the status stands a step, ${refundSteps.map(code).join(', ')}:
  an answer that was lost is looked up like any other, a refund the gateway still works on once a day and at each notification.
- A refund of a part emits both events, a full one \`payment.refunded\` alone. One that failed in the answer to its request emits none.
- A payment may have ${maxRefunds} refunds. What they take together, pending ones included, never exceeds what was captured; the database
  holds this by a check.

## Events

${table(['Event', 'Offered to automation platforms'], eventNames.map((name) => [code(name), (automationEvents as readonly string[]).includes(name) ? 'yes' : '']))}

## Webhook delivery

${attemptWaitsMs.length} attempts. Each waits after the one before it, with up to a tenth added:

${table(['Attempt', 'Waits'], attemptWaitsMs.map((wait, index) => [String(index + 1), wait === 0 ? 'sent at once' : inWords(wait)]))}
`;
}

function ends(statuses: readonly string[], moves: readonly { from: string }[]): string[] {
  return statuses.filter((status) => !moves.some((move) => move.from === status));
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

/** @param ms a whole number of days, two or more */
function inDays(ms: number): string {
  return `${ms / 86_400_000} days`;
}

/** @param ms a whole number of seconds, minutes or hours */
function inWords(ms: number): string {
  const [amount, unit] = ms % 3_600_000 === 0 ? [ms / 3_600_000, 'hour'] : ms % 60_000 === 0 ? [ms / 60_000, 'minute'] : [ms / 1000, 'second'];
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(statesFile, drawStates());
