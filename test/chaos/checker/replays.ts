// V2: a request that was answered 2xx is there, once, and its replay gives the same bytes; one that timed out or failed is
// there whole or not at all, and asking again under the same key gives one answer from then on.
import type { KeyedRequest, Reply, World } from '../world.ts';
import { describe, digest, isFinal } from '../world.ts';
import type { Violation } from './checker.ts';

/** Each is up to two requests; the oldest and newest suffice beyond it. */
const maxReplayed = 150;

export async function checkReplays(world: World): Promise<Violation[]> {
  const violations: Violation[] = [];
  const add = (what: string): void => void violations.push({ invariant: 'V2', what });
  const used = world.keyed.filter((request) => request.replies.length > 0);
  const chosen = used.length <= maxReplayed ? used : [...used.slice(0, maxReplayed / 2), ...used.slice(-maxReplayed / 2)];
  for (let i = 0; i < chosen.length; i += 8) await Promise.all(chosen.slice(i, i + 8).map((request) => replay(world, request, add)));
  return violations;
}

async function replay(world: World, request: KeyedRequest, add: (what: string) => void): Promise<void> {
  if (!request.path.endsWith('/checkout-sessions')) return replayMoney(world, request, add);
  const successes = (): Reply[] => request.replies.filter((reply) => reply.status >= 200 && reply.status < 300);
  const hadAnswer = successes().length > 0;
  const first = await world.send(request);
  if (first.status !== 201) return add(`key ${request.idempotencyKey} was answered ${describe(first)} when asked again: ${first.text.slice(0, 200)}`);
  if (hadAnswer && !first.replayed) add(`key ${request.idempotencyKey} was answered before and yet worked on again`);
  if (!hadAnswer) await world.send(request);
  const bodies = new Set(successes().map((reply) => reply.text));
  if (bodies.size > 1) add(`key ${request.idempotencyKey} has ${bodies.size} different answers: ${[...bodies].map(digest).join(', ')}`);
  const { order } = (request.body as { metadata: { order: string } }).metadata;
  const sessions = await world.stack.query<{ id: string }>(`select id from checkout_sessions where metadata ->> 'order' = $1`, [order]);
  const { id } = JSON.parse(first.text) as { id: string };
  if (sessions.length !== 1 || sessions[0]?.id !== id) add(`key ${request.idempotencyKey} made ${sessions.length} sessions; its answer names ${id}`);
  const seen = await world.get(request.merchant, `/api/v1/checkout-sessions/${id}`);
  if (seen.status !== 200) add(`session ${id} was answered 201 and cannot be read: ${describe(seen)}`);
}

/** What a request for money made, by the mark in its metadata; captures, voids and deactivations have none. */
const madeBy: readonly (readonly [path: RegExp, text: string])[] = [
  [/\/(payments|charge-token)$/, `select id from transactions where metadata ->> 'order' = $1`],
  [/\/refund$/, `select id from refunds where metadata ->> 'order' = $1`],
];

async function replayMoney(world: World, request: KeyedRequest, add: (what: string) => void): Promise<void> {
  const what = `key ${request.idempotencyKey} (${request.path})`;
  const told = request.replies.filter(isStored);
  const first = await world.send(request);
  if (!isFinal(first)) return add(`${what} was answered ${describe(first)} at rest: ${first.text.slice(0, 200)}`);
  if (told.length > 0 && !first.replayed) add(`${what} was answered before and yet worked on again`);
  if (told.length === 0) await world.send(request);
  const bodies = new Set(request.replies.filter(isStored).map((reply) => `${reply.status} ${reply.text}`));
  if (bodies.size > 1) add(`${what} has ${bodies.size} different answers: ${[...bodies].map((body) => `${digest(body)} ${body.slice(0, 120)}`).join(', ')}`);
  const made = madeBy.find(([path]) => path.test(request.path));
  const { order } = (request.body as { metadata?: { order?: string } }).metadata ?? {};
  if (made === undefined || order === undefined) return;
  const rows = await world.stack.query<{ id: string }>(made[1], [order]);
  if (first.status === 201 && (rows.length !== 1 || rows[0]?.id !== (JSON.parse(first.text) as { id: string }).id)) add(`${what} made ${rows.length}; its answer names another`);
  if (rows.length > 1) add(`${what} made ${rows.length}`);
}

/** Answers that are remembered under their key. Specification: Endpoints (Idempotency-Key). */
function isStored(reply: { status: number; text: string; location: string | null; replayed: boolean }): boolean {
  return isFinal(reply) && (reply.status < 300 || reply.status === 402 || reply.status === 409);
}
