// R5: paying against cancelling, and paying against the end of the session, within milliseconds. One winner each time;
// that customers were told what happened is the checker's to see.
import { statusesOf, untilEnded } from '../endings.ts';
import type { Scenario, ScenarioRun } from '../scenario.ts';
import { cards, describe, type Reply, type Session, sleep } from '../world.ts';

export const endRaces: Scenario = {
  name: 'r5',
  title: 'pay x cancel, pay x expiry',
  repeats: { usual: 20, full: 200 },
  async run(run) {
    await Promise.all([run.stack.startApi(), run.stack.startWorker()]);
    // The shortest session lasts a minute, so those that are to expire are made first.
    const expiring: Session[] = [];
    for (let n = 0; n < run.repeats; n++) expiring.push(await run.world.createSession({ expires_in_minutes: 1 }));
    const atExpiry = Promise.all(expiring.map((session, n) => payAtExpiry(run, session, n)));
    for (let n = 0; n < run.repeats; n++) await payAndCancel(run, n);
    await atExpiry;
  },
};

async function payAndCancel(run: ScenarioRun, n: number): Promise<void> {
  const { world } = run;
  const session = await world.createSession();
  const form = await world.openForm(session, n % 5 === 4 ? cards.declined : cards.good);
  if (form === null) return run.fail('the page has no form');
  // A payment goes by way of the card's vault first, so a cancel that is to meet it starts a little later.
  const [paid, cancelled] = await Promise.all([world.post(session, 'pay', form), sleep(run.random() * 40).then(() => world.post(session, 'cancel', form))]);
  await judge(run, session, paid, cancelled);
}

/** Around `expires_at` itself and around the last moment for a claim, a quarter of a second before it. */
async function payAtExpiry(run: ScenarioRun, session: Session, n: number): Promise<void> {
  const { world } = run;
  await sleep(session.expiresAtMs - Date.now() - 8_000);
  const form = await world.openForm(session, cards.good);
  if (form === null) return run.fail('the page of a session about to expire has no form');
  // What a whole payment takes just now, so that half of the requests can leave early enough to meet the moment.
  const rehearsal = await world.createSession();
  const begun = performance.now();
  await world.pay(rehearsal, cards.good);
  const payMs = performance.now() - begun;
  const aim = (n % 2 === 0 ? 0 : -250) - 5 + run.random() * 10;
  await sleep(session.expiresAtMs + aim - Date.now() - (n % 4 < 2 ? 0 : run.random() * payMs));
  await judge(run, session, await world.post(session, 'pay', form), null);
}

async function judge({ stack, world, ...run }: ScenarioRun, session: Session, paid: Reply, cancelled: Reply | null): Promise<void> {
  const seen = JSON.parse((await world.get(session.merchant, `/api/v1/checkout-sessions/${session.id}`)).text) as { status: string };
  const ended = await untilEnded(stack, [session.id], 60_000);
  if (!ended.has(session.id)) return run.fail(`session ${session.id} had not ended a minute after its race`);
  const status = (await statusesOf(stack, [session.id])).get(session.id);
  if (seen.status !== 'open' && seen.status !== status) run.fail(`session ${session.id} was read as ${seen.status} and ended ${status}`);
  if (paid.status !== 303) run.fail(`the pay form of ${session.id} was answered ${describe(paid)}`);
  // 409: a payment is under way.
  if (cancelled !== null && ![303, 409].includes(cancelled.status)) run.fail(`the cancel form of ${session.id} was answered ${describe(cancelled)}`);
  run.note(`${cancelled === null ? 'expiry' : 'cancel'}: ${status}`);
}
