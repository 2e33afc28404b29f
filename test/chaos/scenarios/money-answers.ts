// F5 and F7 for money without a page: the gateway does what it was asked and its answer is lost, or tells another amount or
// currency. Nothing is told as done or failed until it was looked up; then it is settled once, for what was asked.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { untilSettled } from '../endings.ts';
import type { MoneyKind } from '../fault-points.ts';
import type { Scenario, ScenarioRun } from '../scenario.ts';
import { describe, sleep } from '../world.ts';
import { paymentOf, prepare, type Prepared } from './money-requests.ts';

type Behaviour = 'lost' | 'lost_hang' | 'lost_502' | 'wrong_amount' | 'wrong_currency';

/** Operations at once; the switch counts the answers it spoils. */
const atOnce = 10;

export const lostMoneyAnswers: Scenario = {
  name: 'm-f5',
  title: "the gateway's answer to a charge, a capture or a refund is lost: reset, hang, 502",
  repeats: { usual: 3, full: 200 },
  run: (run) => through(run, ['lost', 'lost_hang', 'lost_502']),
};

export const wrongMoneyAnswers: Scenario = {
  name: 'm-f7',
  title: 'the gateway answers a charge, a capture or a refund with another amount or currency',
  repeats: { usual: 2, full: 50 },
  run: (run) => through(run, ['wrong_amount', 'wrong_currency']),
};

async function through(run: ScenarioRun, behaviours: readonly Behaviour[]): Promise<void> {
  await Promise.all([run.stack.startApi(), run.stack.startWorker()]);
  for (const kind of ['charge-token', 'capture', 'refund'] as const) {
    for (const behaviour of behaviours) {
      for (let done = 0; done < run.repeats; done += atOnce) await round(run, kind, behaviour, Math.min(atOnce, run.repeats - done));
    }
  }
}

async function round({ stack, world, ...run }: ScenarioRun, kind: MoneyKind, behaviour: Behaviour, count: number): Promise<void> {
  const what = `${kind} ${behaviour}`;
  const wrong = behaviour.startsWith('wrong');
  const merchant = world.merchants[0]!;
  const token = await world.saveCard(merchant);
  const ready: Prepared[] = [];
  for (let n = 0; n < count; n++) ready.push(await prepare(world, kind, merchant, token));
  const alertsBefore = countAlerts(stack.dir);
  // A wrong figure is wrong in the look-up too, the first time: being told it twice makes it no truer.
  const spoiled = kind === 'charge-token' ? 'charge' : kind;
  await stack.control({ slug: 'simulator', behaviour, only: wrong ? [spoiled, 'lookup'] : [spoiled], times: wrong ? count * 2 : count });
  const begun = Date.now();
  const replies = await Promise.all(ready.map(({ request }) => world.send(request)));
  for (const reply of replies) {
    const open = kind === 'refund' ? reply.status === 201 && reply.text.includes('"status":"pending"') : reply.status === 202 && reply.text.includes('"status":"processing"');
    if (!open) run.fail(`${what}: answered ${describe(reply)} ${reply.text.slice(0, 200)} while the outcome was not known`);
  }
  const ids = (await Promise.all(ready.map((prepared) => paymentOf(world, prepared)))).filter((id) => id !== null);
  if (ids.length !== count) run.fail(`${what}: ${ids.length} of ${count} payments were written`);
  const settled = await untilSettled(stack, ids, wrong ? 150_000 : 100_000);
  await stack.control({ slug: 'simulator', behaviour: 'ok' });
  for (const id of ids) {
    const at = settled.get(id);
    if (at === undefined) run.fail(`${what}: payment ${id} was not settled in time`);
    else run.recovered(at - begun);
  }
  const rows = await stack.query<{ id: string; status: string; amount_captured: string; amount_refunded: string }>(
    'select id, status, amount_captured, amount_refunded from transactions where id = any($1::text[])',
    [ids],
  );
  const [{ ends, amountMinor } = { ends: '', amountMinor: 0 }] = ready;
  for (const row of rows) {
    const moved = Number(kind === 'refund' ? row.amount_refunded : row.amount_captured);
    if (row.status !== ends || moved !== amountMinor) run.fail(`${what}: payment ${row.id} ended ${row.status} with ${moved} instead of ${ends} with ${amountMinor}`);
  }
  if (wrong && countAlerts(stack.dir) - alertsBefore < count) run.fail(`${what}: ${countAlerts(stack.dir) - alertsBefore} alerts for ${count} wrong answers`);
  run.note(`${what}: ${rows.length} settled, the slowest after ${(Math.max(0, ...[...settled.values()].map((at) => at - begun)) / 1000).toFixed(1)} s`);
  // Calls are kept in batches, a little later.
  await sleep(3_000);
  const calls = await stack.query<{ id: string; lookups: string; sends: string }>(
    `select transaction_id as id, count(*) filter (where kind = 'lookup') as lookups, count(*) filter (where kind = $2) as sends
      from gateway_calls where transaction_id = any($1::text[]) group by 1`,
    [ids, spoiled],
  );
  const most = 2;
  for (const call of calls) {
    if (Number(call.lookups) < 1 || Number(call.lookups) > most) run.fail(`${what}: ${call.id} took ${call.lookups} look-ups`);
    if (Number(call.sends) !== 1) run.fail(`${what}: ${call.id} was sent to the gateway ${call.sends} times`);
  }
  if (calls.length !== ids.length) run.fail(`${what}: gateway calls of ${calls.length} of ${ids.length} payments were kept`);
}

/** As the operator gets them. */
function countAlerts(dir: string): number {
  const logs = join(dir, 'logs');
  return readdirSync(logs).reduce((sum, file) => sum + readFileSync(join(logs, file), 'utf8').split('"alert":"gateway_amount_mismatch"').length - 1, 0);
}
