// F4: the Temporal server is killed and comes back, stays away for a minute, comes back empty. Reads go on, sessions are
// still created, payments finish later.
import { untilEnded } from '../endings.ts';
import type { Scenario, ScenarioRun } from '../scenario.ts';
import { cards, describe, leadsTo, type Reply, type Session, sleep } from '../world.ts';

export const temporalRestarts: Scenario = {
  name: 'f4-restart',
  title: 'kill -9 the Temporal server and start it again',
  repeats: { usual: 2, full: 20 },
  run: (run) => throughOutages(run, { awayMs: 0, empty: false }),
};
export const temporalAway: Scenario = {
  name: 'f4-away',
  title: 'the Temporal server is away for 60 s',
  repeats: { usual: 1, full: 5 },
  run: (run) => throughOutages(run, { awayMs: 60_000, empty: false }),
};
export const temporalEmpty: Scenario = {
  name: 'f4-empty',
  title: 'the Temporal server comes back with an empty database',
  repeats: { usual: 1, full: 3 },
  run: (run) => throughOutages(run, { awayMs: 0, empty: true }),
};

interface Outage {
  readonly awayMs: number;
  readonly empty: boolean;
}

async function throughOutages(run: ScenarioRun, outage: Outage): Promise<void> {
  await Promise.all([run.stack.startApi(), run.stack.startWorker()]);
  for (let n = 0; n < run.repeats; n++) await throughOne(run, outage);
}

async function throughOne({ stack, world, ...run }: ScenarioRun, { awayMs, empty }: Outage): Promise<void> {
  const before: Session[] = [];
  for (let n = 0; n < 6; n++) before.push(await world.createSession());
  const expiring = await world.createSession({ expires_in_minutes: 1 });
  // Payments whose outcome is not known when the server goes: nobody but their workflow waits for the look-up.
  const unknown = before.slice(0, 3);
  await Promise.all(unknown.map((session) => world.pay(session, cards.lost)));

  const gets: Reply[] = [];
  const creates: { reply: Reply; tookMs: number }[] = [];
  const made: Session[] = [];
  const posts: { session: Session; reply: Promise<Reply> }[] = [];
  let running = true;
  const reading = (async () => {
    while (running) {
      gets.push(await world.get(before[0]!.merchant, `/api/v1/checkout-sessions/${before[0]!.id}`));
      await sleep(20);
    }
  })();
  const creating = (async () => {
    while (running) {
      const request = world.keyedCreate();
      const begun = Date.now();
      const reply = await world.send(request);
      creates.push({ reply, tookMs: Date.now() - begun });
      if (reply.status === 201) made.push(sessionOf(request.merchant, reply));
      const session = made.at(-1);
      if (session !== undefined && made.length % 3 === 0 && !posts.some((post) => post.session === session)) posts.push({ session, reply: world.pay(session, cards.good) });
      await sleep(250);
    }
  })();
  await sleep(1_000);
  await stack.temporal.kill();
  // One each of what needs the workflow, while there is no server.
  const cancelling = world.openForm(before[3]!, cards.good).then((form) => (form === null ? null : world.post(before[3]!, 'cancel', form)));
  posts.push({ session: before[4]!, reply: world.pay(before[4]!, cards.good) }, { session: before[5]!, reply: world.pay(before[5]!, cards.declined) });
  await sleep(awayMs);
  await stack.temporal.start({ empty });
  const backAt = Date.now();
  await sleep(10_000);
  running = false;
  await Promise.all([reading, creating]);

  const good = gets.filter((reply) => reply.status === 200).length;
  run.note(`${gets.length} reads, ${gets.length - good} of them not good; ${creates.length} creates, the slowest ${Math.max(...creates.map((create) => create.tookMs))} ms; ${posts.length} payments`);
  if (good < gets.length * 0.999) run.fail(`${gets.length - good} of ${gets.length} reads were not good: ${describe(gets.find((reply) => reply.status !== 200)!)}`);
  for (const { reply } of creates) if (reply.status !== 201) run.fail(`a session create was answered ${describe(reply)}: ${reply.text.slice(0, 150)}`);
  for (const { session, reply } of posts) {
    const answered = await reply;
    if (answered.status !== 303 && answered.status !== 503) run.fail(`paying ${session.id} was answered ${describe(answered)}`);
    // Surely refused: the customer sends the form again.
    if (answered.status === 503) posts.push({ session, reply: world.pay(session, cards.good) });
  }
  const cancelled = await cancelling;
  if (cancelled !== null && ![303, 503].includes(cancelled.status)) run.fail(`cancelling was answered ${describe(cancelled)}`);
  if (cancelled !== null && !leadsTo.cancelled(cancelled)) {
    const form = await world.openForm(before[3]!, cards.good);
    if (form !== null) await world.post(before[3]!, 'cancel', form);
  }

  const ids = [...unknown, before[3]!, expiring, ...posts.map(({ session }) => session)].map((session) => session.id);
  const ended = await untilEnded(stack, [...new Set(ids)], 120_000);
  for (const id of new Set(ids)) {
    const at = ended.get(id);
    if (at === undefined) run.fail(`session ${id} ${nameOf(id)} had not ended 120 s after the server was back`);
    else if (id !== expiring.id) run.recovered(Math.max(0, at - backAt));
  }

  function nameOf(id: string): string {
    if (id === expiring.id) return '(to expire)';
    if (id === before[3]!.id) return '(cancelled by its customer)';
    return unknown.some((session) => session.id === id) ? '(its outcome unknown when the server went)' : '(paid during the outage)';
  }
}

function sessionOf(merchant: Session['merchant'], reply: Reply): Session {
  const body = JSON.parse(reply.text) as { id: string; checkout_url: string; expires_at: string };
  return { merchant, id: body.id, checkoutUrl: body.checkout_url, expiresAtMs: Date.parse(body.expires_at) };
}
