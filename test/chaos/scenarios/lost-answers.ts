// F5 and what F7 has of charges: the gateway charges and its answer is lost (a reset, silence, a 502) or is not to be
// believed. The payment is `processing` until it is looked up, never `failed`, and at most two look-ups find it.
import type { Scenario, ScenarioRun } from '../scenario.ts';
import { untilEnded } from '../endings.ts';
import { cards, describe, leadsTo, type Session, sleep } from '../world.ts';

const lost = ['lost', 'lost_hang', 'lost_502'] as const;
const wrong = ['malformed', 'oversized', 'wrong_amount', 'wrong_currency'] as const;
type Behaviour = (typeof lost)[number] | (typeof wrong)[number];

/** Payments at once; the switch counts the charges it spoils. */
const atOnce = 10;

export const lostAnswers: Scenario = {
  name: 'f5',
  title: "the gateway's answer is lost after charging: reset, hang, 502",
  repeats: { usual: 5, full: 200 },
  run: (run) => through(run, lost),
};

export const wrongAnswers: Scenario = {
  name: 'f7',
  title: 'the gateway answers a charge with broken or 10 MB JSON, another amount or currency',
  repeats: { usual: 2, full: 50 },
  run: (run) => through(run, wrong),
};

async function through(run: ScenarioRun, behaviours: readonly Behaviour[]): Promise<void> {
  await Promise.all([run.stack.startApi(), run.stack.startWorker()]);
  for (const behaviour of behaviours) {
    for (let done = 0; done < run.repeats; done += atOnce) await round(run, behaviour, Math.min(atOnce, run.repeats - done));
  }
}

async function round({ stack, world, ...run }: ScenarioRun, behaviour: Behaviour, count: number): Promise<void> {
  const sessions: Session[] = [];
  for (let n = 0; n < count; n++) sessions.push(await world.createSession());
  const ids = sessions.map((session) => session.id);
  await stack.control({ slug: 'simulator', behaviour, only: ['charge'], times: count });
  const seen = new Map<string, Set<string>>();
  let watching = true;
  const watch = (async () => {
    while (watching) {
      const rows = await stack.query<{ id: string; status: string }>('select session_id as id, status from transactions where session_id = any($1::text[])', [ids]);
      for (const { id, status } of rows) seen.set(id, (seen.get(id) ?? new Set()).add(status));
      await sleep(100);
    }
  })();
  const begun = Date.now();
  const replies = await Promise.all(sessions.map((session) => world.pay(session, cards.good)));
  for (const reply of replies) {
    if (leadsTo.failure(reply) || reply.status !== 303) run.fail(`${behaviour}: a customer whose charge went through was answered ${describe(reply)}`);
  }
  const ended = await untilEnded(stack, ids, 100_000);
  watching = false;
  await watch;
  await stack.control({ slug: 'simulator', behaviour: 'ok' });
  for (const session of sessions) {
    const at = ended.get(session.id);
    if (at === undefined) run.fail(`${behaviour}: session ${session.id} had not ended after 100 s`);
    else run.recovered(at - begun);
    const statuses = seen.get(session.id) ?? new Set<string>();
    if (!statuses.has('processing')) run.fail(`${behaviour}: payment of ${session.id} was never processing, but ${[...statuses].join(', ')}`);
    if (statuses.has('failed')) run.fail(`${behaviour}: payment of ${session.id} was failed`);
  }
  // Calls are kept in batches, a little later.
  await sleep(3_000);
  const calls = await stack.query<{ session_id: string; lookups: string; charges: string }>(
    `select t.session_id, count(*) filter (where c.kind = 'lookup') as lookups, count(*) filter (where c.kind = 'charge') as charges
      from transactions t join gateway_calls c on c.transaction_id = t.id where t.session_id = any($1::text[]) group by 1`,
    [ids],
  );
  for (const call of calls) {
    if (Number(call.lookups) < 1 || Number(call.lookups) > 2) run.fail(`${behaviour}: ${call.session_id} took ${call.lookups} look-ups`);
    if (Number(call.charges) !== 1) run.fail(`${behaviour}: ${call.session_id} was sent to the gateway ${call.charges} times`);
  }
  if (calls.length !== count) run.fail(`${behaviour}: gateway calls of ${calls.length} of ${count} payments were kept`);
}
