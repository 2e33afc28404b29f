// F1 and F2 for money without a page: the worker or the API is killed at a fixed point of a charge, a refund, a capture or
// a void, and the client asks again under the same key until it is told. One effect, one answer, both sides agree.
import { statusesOf as sessionStatuses, untilSettled } from '../endings.ts';
import { beginPoints, chargePoints, createPoints, type FaultPoint, type MoneyKind, moneyKinds, type MoneyPoint } from '../fault-points.ts';
import type { Scenario, ScenarioRun } from '../scenario.ts';
import { describe, isFinal, sleep } from '../world.ts';
import { charge, paymentOf, prepare, type Prepared } from './money-requests.ts';

export const killMoneyWorker: Scenario = {
  name: 'm-f1',
  title: 'kill -9 the worker at 8 fixed points of charge-token and refund, the client retries',
  repeats: { usual: 1, full: 10 },
  async run(run) {
    await run.stack.startApi();
    for (let n = 0; n < run.repeats; n++) {
      for (const kind of ['charge-token', 'refund'] as const) {
        await round(run, kind, chargePoints.slice(0, 4));
        await round(run, kind, chargePoints.slice(4));
      }
      // A capture and a void pass the same code: the two points that differ most.
      for (const kind of ['capture', 'void'] as const) await round(run, kind, ['before-send', 'after-ledger']);
    }
  },
};

export const killMoneyApi: Scenario = {
  name: 'm-f2',
  title: 'kill -9 the API during POST /payments and the requests that move money, the client retries',
  repeats: { usual: 2, full: 100 },
  async run(run) {
    await run.stack.startWorker();
    const healthy = await run.stack.startApi();
    for (const kind of moneyKinds) for (const point of beginPoints) await apiRounds(run, kind, `${kind}/${point}`);
    for (const point of createPoints) await hostedRounds(run, point);
    await healthy.stop();
    for (let n = 0; n < run.repeats; n++) await atRandom(run);
    await run.stack.startApi();
  },
};

const atOnce = 5;

/** A faulty worker for each point at once: what one leaves behind the next may take up, and die of it too. */
async function round({ stack, world, ...run }: ScenarioRun, kind: MoneyKind, points: readonly (typeof chargePoints)[number][]): Promise<void> {
  const merchant = world.merchants[0]!;
  const token = await world.saveCard(merchant);
  // What the operations are done to has to be there before.
  const calm = kind === 'charge-token' ? null : await stack.startWorker();
  const ready: Prepared[] = [];
  for (let n = 0; n < points.length * 5; n++) ready.push(await prepare(world, kind, merchant, token));
  await calm?.stop();
  const workers = await Promise.all(points.map((point) => stack.startWorker(`${kind}/${point}`)));
  const sent: { prepared: Prepared; reply: Promise<unknown> }[] = [];
  const deadline = Date.now() + 90_000;
  while (workers.some((worker) => worker.isRunning()) && Date.now() < deadline) {
    for (const prepared of ready.splice(0, workers.filter((worker) => worker.isRunning()).length)) sent.push({ prepared, reply: world.send(prepared.request) });
    await Promise.race([Promise.all(workers.map((worker) => worker.ended)), sleep(4_000)]);
  }
  for (const [n, worker] of workers.entries()) {
    if (worker.isRunning()) run.fail(`${kind}/${points[n]}: a faulty worker was never reached`);
    await worker.kill();
  }
  const killedAt = Math.max(...workers.map((worker) => worker.endedAtMs() ?? 0));
  const healthy = await stack.startWorker();
  await Promise.all(sent.map(({ prepared }) => finish({ stack, world, ...run }, kind, prepared, killedAt)));
  await Promise.all(sent.map(({ reply }) => reply));
  run.note(`${kind} at ${points.join(', ')}: ${workers.length} kills, ${sent.length} requests`);
  await healthy.stop();
}

/** Asks again until it is told, and waits until the rows say the same. */
async function finish({ stack, world, ...run }: ScenarioRun, point: string, prepared: Prepared, killedAt: number): Promise<void> {
  const reply = await world.insist(prepared.request, 60_000);
  if (reply === null) return run.fail(`${point}: no outcome was told within 60 s, the last answer ${describe(prepared.request.replies.at(-1)!)}`);
  if (reply.status !== prepared.answered) run.fail(`${point}: the retry was told ${describe(reply)}: ${reply.text.slice(0, 200)}`);
  const id = await paymentOf(world, prepared);
  if (id === null) return run.fail(`${point}: answered ${reply.status}, and nothing was written`);
  const settled = await untilSettled(stack, [id], 60_000);
  const at = settled.get(id);
  if (at === undefined) return run.fail(`${point}: payment ${id} was not settled, or not told, 60 s after`);
  run.recovered(at - killedAt);
  const [row] = await stack.query<{ status: string }>('select status from transactions where id = $1', [id]);
  if (row?.status !== prepared.ends) run.fail(`${point}: payment ${id} ended ${row?.status}`);
}

async function apiRounds(run: ScenarioRun, kind: MoneyKind, point: MoneyPoint): Promise<void> {
  for (let done = 0; done < run.repeats; done += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, run.repeats - done) }, () => throughApi(run, kind, point)));
  }
}

async function throughApi(run: ScenarioRun, kind: MoneyKind, point: MoneyPoint): Promise<void> {
  const { stack, world } = run;
  const merchant = world.merchants[0]!;
  const prepared = await prepare(world, kind, merchant, await world.saveCard(merchant));
  const faulty = await stack.startFaultyApi(point);
  const first = await world.send(prepared.request, faulty.url);
  if (first.status !== 0) run.fail(`${point}: the API answered ${describe(first)} instead of dying`);
  await faulty.kill();
  await finish(run, point, prepared, Date.now());
}

/** Without a token: the hosted fallback. */
async function hostedRounds({ stack, world, ...run }: ScenarioRun, point: FaultPoint): Promise<void> {
  for (let n = 0; n < run.repeats; n++) {
    const faulty = await stack.startFaultyApi(point);
    const request = world.ask(world.merchants[0]!, '/payments', {
      amount: 2500, currency: 'USD', success_url: 'https://shop.example/ok', failure_url: 'https://shop.example/no', metadata: { order: `hosted-${point}-${n}` },
    });
    const first = await world.send(request, faulty.url);
    if (first.status !== 0) run.fail(`hosted ${point}: the API answered ${describe(first)} instead of dying`);
    await faulty.kill();
    const again = await world.insist(request);
    if (again?.status !== 201) run.fail(`hosted ${point}: the same key was answered ${again === null ? 'nothing final' : describe(again)}`);
    else if (again.replayed !== (point === 'after-create')) run.fail(`hosted ${point}: the answer to the retry is ${again.replayed ? '' : 'not '}a replay`);
    const { session_id: session } = JSON.parse(again?.text ?? '{}') as { session_id?: string };
    if (session === undefined || (await sessionStatuses(stack, [session])).get(session) !== 'open') run.fail(`hosted ${point}: the session ${session} is not open`);
  }
}

/** Charges under way when the API dies at any instant, and comes back on the same port. */
async function atRandom({ stack, world, ...run }: ScenarioRun): Promise<void> {
  const api = await stack.startApi();
  const merchant = world.merchants[0]!;
  const token = await world.saveCard(merchant);
  const requests = Array.from({ length: 6 }, () => charge(world, merchant, token));
  const under = requests.map((request) => sleep(run.random() * 60).then(() => world.send(request)));
  await sleep(run.random() * 120);
  await api.kill();
  await Promise.all(under);
  const next = await stack.startApi();
  for (const request of requests) {
    const reply = await world.insist(request);
    if (reply === null || !isFinal(reply) || reply.status !== 201) run.fail(`a killed charge asked again: ${reply === null ? 'nothing final' : describe(reply)}`);
  }
  await next.stop();
}
