// F1: the worker is killed at a fixed point of a charge, or at any. For a fixed point, as many faulty workers as repeats
// share the sessions, each dies at its first one; then a healthy worker comes and everything must end paid, charged once.
import type { FaultPoint } from '../fault-points.ts';
import { chargePoints } from '../fault-points.ts';
import { untilEnded } from '../endings.ts';
import { recoveryLimitMs, type Scenario, type ScenarioRun } from '../scenario.ts';
import { cards, sleep } from '../world.ts';

export const killWorker: Scenario = {
  name: 'f1',
  title: 'kill -9 the worker at 8 fixed points of a charge',
  repeats: { usual: 3, full: 10 },
  async run(run) {
    await run.stack.startApi();
    for (const point of chargePoints) await atPoint(run, point);
    for (let n = 0; n < run.repeats; n++) await duringWebhook(run);
  },
};

export const killWorkerAnytime: Scenario = {
  name: 'f1-random',
  title: 'kill -9 the worker at a random instant of a charge, again and again',
  repeats: { usual: 5, full: 100 },
  run: anytime,
};

/** Faulty workers at once; more would only wait for the processor. */
const atOnce = 5;

async function atPoint(run: ScenarioRun, point: FaultPoint): Promise<void> {
  for (let done = 0; done < run.repeats; done += atOnce) await round(run, point, Math.min(atOnce, run.repeats - done));
}

async function round({ stack, world, ...run }: ScenarioRun, point: FaultPoint, count: number): Promise<void> {
  const workers = await Promise.all(Array.from({ length: count }, () => stack.startWorker(point)));
  // A worker may take two sessions at once and die of one: a few more than workers make sure that each has its own.
  const paid: { id: string; reply: Promise<unknown> }[] = [];
  const deadline = Date.now() + 60_000;
  while (workers.some((worker) => worker.isRunning()) && Date.now() < deadline) {
    const alive = workers.filter((worker) => worker.isRunning()).length;
    for (let n = 0; n < alive; n++) {
      const session = await world.createSession();
      paid.push({ id: session.id, reply: world.pay(session, cards.good) });
    }
    await Promise.race([Promise.all(workers.map((worker) => worker.ended)), sleep(4_000)]);
  }
  for (const worker of workers) {
    if (worker.isRunning()) run.fail(`${point}: a faulty worker was never reached`);
    await worker.kill();
  }
  const killedAt = Math.max(...workers.map((worker) => worker.endedAtMs() ?? 0));
  const healthy = await stack.startWorker();
  const ids = paid.map(({ id }) => id);
  const ended = await untilEnded(stack, ids, 120_000);
  for (const id of ids) {
    const at = ended.get(id);
    if (at === undefined) run.fail(`${point}: session ${id} had not ended 120 s after the kill`);
    else run.recovered(at - killedAt);
  }
  const slowest = Math.max(0, ...[...ended.values()].map((at) => at - killedAt));
  run.note(`${point}: ${count} kills, ${ids.length} payments, the slowest right after ${(slowest / 1000).toFixed(1)} s${slowest > recoveryLimitMs ? ' (too late)' : ''}`);
  await Promise.all(paid.map(({ reply }) => reply));
  await healthy.stop();
}

/** The receiver has the event when its sender dies: it must come again, the same to the byte. */
async function duringWebhook({ stack, world, ...run }: ScenarioRun): Promise<void> {
  const worker = await stack.startWorker();
  const session = await world.createSession();
  const { receiver } = session.merchant;
  const since = receiver.deliveries.length;
  receiver.behave((delivery) => {
    if (delivery.body?.event !== 'payment.completed' || !worker.isRunning()) return { status: 200 };
    void worker.kill();
    return 'hang';
  });
  const paid = world.pay(session, cards.good);
  await Promise.race([worker.ended, sleep(30_000)]);
  if (worker.isRunning()) run.fail('during-webhook: the webhook never came');
  await worker.kill();
  const healthy = await stack.startWorker();
  const ended = await untilEnded(stack, [session.id], 90_000);
  receiver.behave({ status: 200 });
  if (!ended.has(session.id)) run.fail(`during-webhook: session ${session.id} had not ended, or not been told, 90 s after the kill`);
  else run.recovered((ended.get(session.id) ?? 0) - (worker.endedAtMs() ?? 0));
  const times = receiver.deliveries.slice(since).filter((delivery) => delivery.body?.event === 'payment.completed').length;
  if (times < 2) run.fail(`during-webhook: the event came ${times} times`);
  await paid;
  await healthy.stop();
}

/** Later kills meet the recovery from earlier ones. */
async function anytime({ stack, world, ...run }: ScenarioRun): Promise<void> {
  await stack.startApi();
  const ids: string[] = [];
  const replies: Promise<unknown>[] = [];
  let killedAt = 0;
  for (let n = 0; n < run.repeats; n++) {
    const worker = await stack.startWorker();
    const sessions = await Promise.all(Array.from({ length: 4 }, () => world.createSession()));
    for (const [index, session] of sessions.entries()) {
      ids.push(session.id);
      replies.push(sleep(run.random() * 200).then(() => world.pay(session, [cards.good, cards.good, cards.declined, cards.slow][index])));
    }
    await sleep(run.random() * 600);
    await worker.kill();
    killedAt = Date.now();
  }
  await stack.startWorker();
  const ended = await untilEnded(stack, ids, 120_000);
  for (const id of ids) {
    const at = ended.get(id);
    if (at === undefined) run.fail(`session ${id} had not ended 120 s after the last kill`);
    else run.recovered(Math.max(0, at - killedAt));
  }
  await Promise.all(replies);
}
