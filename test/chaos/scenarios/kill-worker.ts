// F1: the worker is killed at a fixed point of a charge. As many faulty workers as repeats share the sessions, each dies
// at its first one; then a healthy worker comes and everything must end paid, charged once.
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
  },
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
