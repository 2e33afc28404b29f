// F2: the API is killed while a session is created and while the pay form is answered; the client asks again, under the
// same key or with the same form, at an API that lives.
import { createPoints, type FaultPoint, formPoints } from '../fault-points.ts';
import { untilEnded } from '../endings.ts';
import type { Scenario, ScenarioRun } from '../scenario.ts';
import { cards, describe, leadsTo, sleep, toSession } from '../world.ts';

export const killApi: Scenario = {
  name: 'f2',
  title: 'kill -9 the API during session create and the pay form',
  repeats: { usual: 3, full: 100 },
  async run(run) {
    await run.stack.startWorker();
    const healthy = await run.stack.startApi();
    for (const point of createPoints) await rounds(run, (n) => createThrough(run, point, n));
    for (const point of formPoints) await rounds(run, () => payThrough(run, point));
    await healthy.stop();
    for (let n = 0; n < run.repeats; n++) await atRandom(run);
    // The checker asks again under every key.
    await run.stack.startApi();
  },
};

const atOnce = 5;

async function rounds(run: ScenarioRun, one: (n: number) => Promise<void>): Promise<void> {
  for (let done = 0; done < run.repeats; done += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, run.repeats - done) }, (_, n) => one(n)));
  }
}

async function createThrough({ stack, world, ...run }: ScenarioRun, point: FaultPoint, n: number): Promise<void> {
  const faulty = await stack.startFaultyApi(point);
  const request = world.keyedCreate();
  const first = await world.send(request, faulty.url);
  if (first.status !== 0) run.fail(`${point}: the API answered ${describe(first)} instead of dying`);
  await faulty.kill();
  const again = await world.send(request);
  if (again.status !== 201) run.fail(`${point}: the same key was answered ${describe(again)}`);
  const shouldBeThere = point === 'after-create';
  if (again.replayed !== shouldBeThere) run.fail(`${point}: the answer to the retry is ${again.replayed ? '' : 'not '}a replay`);
  if (again.status !== 201 || n > 0) return;
  // One of each goes on to be paid, so that a session whose creator died is seen to be a whole one.
  const session = toSession(request, again);
  const paid = await world.pay(session, cards.good);
  if (!leadsTo.success(paid)) run.fail(`${point}: paying afterwards gave ${describe(paid)}`);
}

async function payThrough({ stack, world, ...run }: ScenarioRun, point: FaultPoint): Promise<void> {
  const session = await world.createSession();
  const faulty = await stack.startFaultyApi(point);
  const form = await world.openForm(session, cards.good, faulty.url);
  if (form === null) return run.fail(`${point}: the page has no form`);
  const first = await world.post(session, 'pay', form, faulty.url);
  if (first.status !== 0) run.fail(`${point}: the API answered ${describe(first)} instead of dying`);
  await faulty.kill();
  const killedAt = Date.now();
  // The browser's "send again".
  const again = await world.post(session, 'pay', form);
  if (again.status !== 303) run.fail(`${point}: the form sent again gave ${describe(again)}`);
  const ended = await untilEnded(stack, [session.id], 60_000);
  const at = ended.get(session.id);
  if (at === undefined) run.fail(`${point}: session ${session.id} had not ended 60 s after the kill`);
  else run.recovered(at - killedAt);
}

/** One create and one payment each under way when the API dies at any instant, and comes back on the same port. */
async function atRandom({ stack, world, ...run }: ScenarioRun): Promise<void> {
  const api = await stack.startApi();
  const session = await world.createSession();
  const form = await world.openForm(session, cards.good);
  if (form === null) return run.fail('the page has no form');
  const requests = Array.from({ length: 4 }, () => world.keyedCreate());
  const under = [world.post(session, 'pay', form), ...requests.map((request) => world.send(request))];
  await sleep(run.random() * 60);
  await api.kill();
  const killedAt = Date.now();
  await Promise.all(under);
  const next = await stack.startApi();
  for (const request of requests) {
    const reply = await world.send(request);
    if (reply.status !== 201) run.fail(`a killed create asked again: ${describe(reply)}`);
  }
  await world.post(session, 'pay', form);
  const ended = await untilEnded(stack, [session.id], 60_000);
  if (!ended.has(session.id)) run.fail(`session ${session.id} had not ended 60 s after the kill`);
  else run.recovered((ended.get(session.id) ?? 0) - killedAt);
  await next.stop();
}
