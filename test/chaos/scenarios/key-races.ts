// R3: fifty requests under one idempotency key at once. With the same body one effect and equal answers; with others
// exactly one body wins and every other is told that the key is used.
import type { Scenario, ScenarioRun } from '../scenario.ts';
import { describe } from '../world.ts';

const callers = 50;

export const keyRaces: Scenario = {
  name: 'r3',
  title: '50 requests under one idempotency key, same and other body',
  repeats: { usual: 10, full: 100 },
  async run(run) {
    await Promise.all([run.stack.startApi(), run.stack.startWorker()]);
    for (let n = 0; n < run.repeats; n++) {
      await sameBody(run);
      await otherBodies(run);
    }
  },
};

async function sameBody({ world, ...run }: ScenarioRun): Promise<void> {
  const request = world.keyedCreate();
  const replies = await Promise.all(Array.from({ length: callers }, () => world.send(request)));
  const odd = replies.filter((reply) => reply.status !== 201);
  if (odd.length > 0) run.fail(`same body: ${odd.length} of ${callers} were answered ${describe(odd[0]!)}: ${odd[0]!.text.slice(0, 120)}`);
  if (new Set(replies.filter((reply) => reply.status === 201).map((reply) => reply.text)).size !== 1) run.fail('same body: answers differ');
  const first = replies.filter((reply) => reply.status === 201 && !reply.replayed);
  if (first.length !== 1) run.fail(`same body: ${first.length} answers are no replay`);
}

async function otherBodies({ stack, world, ...run }: ScenarioRun): Promise<void> {
  const request = world.keyedCreate();
  const bodies = Array.from({ length: callers }, (_, n) => ({ ...request.body, amount: 1000 + n }));
  const replies = await Promise.all(bodies.map((body) => world.send(request, stack.url, body)));
  const made = replies.filter((reply) => reply.status === 201);
  if (made.length !== 1) run.fail(`other bodies: ${made.length} of ${callers} were answered 201`);
  const odd = replies.filter((reply) => reply.status !== 201 && !(reply.status === 422 && reply.text.includes('"idempotency_key_reused"')));
  if (odd.length > 0) run.fail(`other bodies: ${odd.length} were answered ${describe(odd[0]!)}: ${odd[0]!.text.slice(0, 120)}`);
  const { order } = (request.body as { metadata: { order: string } }).metadata;
  const rows = await stack.query('select id from checkout_sessions where metadata ->> $1 = $2', ['order', order]);
  if (rows.length !== 1) run.fail(`other bodies: ${rows.length} sessions were made`);
}
