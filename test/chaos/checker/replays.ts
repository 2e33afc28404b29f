// V2: a request that was answered 2xx is there, once, and its replay gives the same bytes; one that timed out or failed is
// there whole or not at all, and asking again under the same key gives one answer from then on.
import type { KeyedRequest, Reply, World } from '../world.ts';
import { describe, digest } from '../world.ts';
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
