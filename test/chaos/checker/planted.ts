// Whether the checker sees what it is there for: pays a few sessions, finds nothing, then plants one violation of each kind
// in the rows and must name each invariant. By hand, after a change of the checker: node --import tsx test/chaos/checker/planted.ts
import { untilEnded } from '../endings.ts';
import { startChaosStack } from '../stack.ts';
import { cards, type Session, startWorld } from '../world.ts';
import { check } from './checker.ts';

const stack = await startChaosStack();
try {
  await Promise.all([stack.startApi(), stack.startWorker()]);
  const world = await startWorld(stack);
  const sessions: Session[] = [];
  for (let n = 0; n < 6; n++) sessions.push(await world.createSession());
  const paid = sessions.slice(0, 5);
  await Promise.all(paid.map((session) => world.pay(session, cards.good)));
  await untilEnded(stack, paid.map((session) => session.id), 30_000);
  const before = (await check(world)).violations;

  const planted: readonly (readonly [text: string, session: number])[] = [
    [`update checkout_sessions set status = 'failed', completed_at = null where id = $1`, 0],
    ['delete from payment_attempts where session_id = $1', 1],
    ['delete from deliveries where resource_id = $1', 2],
    [`update events set body = body || ' ' where resource_id = $1`, 3],
    [`update gateway_calls set merchant_id = 'mer_other' where transaction_id = (select transaction_id from checkout_sessions where id = $1)`, 4],
    [`update transactions set status = 'partially_refunded', amount_refunded = 100 where id = (select transaction_id from checkout_sessions where id = $1)`, 4],
    [`update checkout_sessions set description = 'card 4242 4242 4242 4242' where id = $1`, 5],
  ];
  for (const [text, n] of planted) await stack.query(text, [sessions[n]!.id]);
  await stack.query('delete from idempotency_keys where key = $1', [world.keyed[5]!.idempotencyKey]);
  const after = (await check(world)).violations;
  const seen = new Set<string>(after.map((violation) => violation.invariant));
  const missed = ['V1', 'V2', 'V3', 'V4', 'V7', 'V8', 'V9'].filter((invariant) => !seen.has(invariant));
  for (const { invariant, what } of after) console.log(`${invariant}: ${what}`);
  console.log(before.length > 0 ? `found before anything was planted: ${JSON.stringify(before)}` : missed.length > 0 ? `not seen: ${missed.join(', ')}` : 'every planted violation was seen');
  process.exitCode = before.length > 0 || missed.length > 0 ? 1 : 0;
  await world.stop();
} finally {
  await stack.stop();
}
