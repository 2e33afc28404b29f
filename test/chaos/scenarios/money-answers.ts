// F5 and F7 for money without a page: the gateway does what it was asked and its answer is lost, or tells another amount or
// currency. Nothing is told as done or failed until it was looked up; then it is settled once, for what was asked.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lookupWaitMs } from '../../../domain/reconcile-schedule.ts';
import { untilSettled } from '../endings.ts';
import type { Scenario, ScenarioRun } from '../scenario.ts';
import { describe, sleep } from '../world.ts';
import { paymentOf, prepare, type Prepared } from './money-requests.ts';

type Behaviour = 'lost' | 'lost_hang' | 'lost_502' | 'wrong_amount' | 'wrong_currency';

const firstLookupMs = lookupWaitMs(0);
const kinds = ['charge-token', 'capture', 'refund'] as const;
const spoiled = ['charge', 'capture', 'refund'] as const;
/** Operations of each kind at once; the switch counts the answers it spoils. */
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
  for (const behaviour of behaviours) {
    for (let done = 0; done < run.repeats; done += atOnce) await round(run, behaviour, Math.min(atOnce, run.repeats - done));
  }
}

interface Sent extends Prepared {
  readonly kind: (typeof kinds)[number];
}

async function round({ stack, world, ...run }: ScenarioRun, behaviour: Behaviour, count: number): Promise<void> {
  const wrong = behaviour.startsWith('wrong');
  const merchant = world.merchants[0]!;
  const token = await world.saveCard(merchant);
  const ready: Sent[] = [];
  for (const kind of kinds) for (let n = 0; n < count; n++) ready.push({ ...(await prepare(world, kind, merchant, token)), kind });
  const alertsBefore = countAlerts(stack.dir);
  // A wrong figure is wrong in the first look-up too: being told it twice makes it no truer.
  await stack.control({ slug: 'simulator', behaviour, only: wrong ? [...spoiled, 'lookup'] : spoiled, times: ready.length * (wrong ? 2 : 1) });
  const begun = Date.now();
  await Promise.all(
    ready.map(async ({ request, kind, answered }) => {
      const sentAt = Date.now();
      const reply = await world.send(request);
      // The first look-up and the end of the caller's wait are both ten seconds away: it may be told just in time.
      if (!wrong && reply.status === answered && Date.now() - sentAt >= firstLookupMs) return;
      const open = kind === 'refund' ? reply.status === 201 && reply.text.includes('"status":"pending"') : reply.status === 202 && reply.text.includes('"status":"processing"');
      if (!open) run.fail(`${kind} ${behaviour}: answered ${describe(reply)} ${reply.text.slice(0, 200)} while the outcome was not known`);
    }),
  );
  const idOf = new Map<string, Sent>();
  for (const sent of ready) {
    const id = await paymentOf(world, sent);
    if (id === null) run.fail(`${sent.kind} ${behaviour}: no payment was written`);
    else idOf.set(id, sent);
  }
  const settled = await untilSettled(stack, [...idOf.keys()], wrong ? 150_000 : 100_000);
  await stack.control({ slug: 'simulator', behaviour: 'ok' });
  const rows = await stack.query<{ id: string; status: string; amount_captured: string; amount_refunded: string }>(
    'select id, status, amount_captured, amount_refunded from transactions where id = any($1::text[])',
    [[...idOf.keys()]],
  );
  for (const row of rows) {
    const { kind, ends, amountMinor } = idOf.get(row.id)!;
    const at = settled.get(row.id);
    if (at === undefined) run.fail(`${kind} ${behaviour}: payment ${row.id} was not settled in time`);
    else run.recovered(at - begun);
    const moved = Number(kind === 'refund' ? row.amount_refunded : row.amount_captured);
    if (row.status !== ends || moved !== amountMinor) run.fail(`${kind} ${behaviour}: payment ${row.id} ended ${row.status} with ${moved} instead of ${ends} with ${amountMinor}`);
  }
  if (wrong && countAlerts(stack.dir) - alertsBefore < ready.length) run.fail(`${behaviour}: ${countAlerts(stack.dir) - alertsBefore} alerts for ${ready.length} operations with wrong answers`);
  run.note(`${behaviour}: ${settled.size} settled, the slowest after ${(Math.max(0, ...[...settled.values()].map((at) => at - begun)) / 1000).toFixed(1)} s`);
  await countCalls({ stack, world, ...run }, behaviour, idOf);
}

/** Sent once, found by two look-ups at most. */
async function countCalls({ stack, ...run }: ScenarioRun, behaviour: Behaviour, idOf: ReadonlyMap<string, Sent>): Promise<void> {
  // Calls are kept in batches, a little later.
  await sleep(3_000);
  const calls = await stack.query<{ id: string; kind: string; n: string }>(
    'select transaction_id as id, kind, count(*) as n from gateway_calls where transaction_id = any($1::text[]) group by 1, 2',
    [[...idOf.keys()]],
  );
  for (const [id, { kind }] of idOf) {
    const times = (of: string): number => Number(calls.find((call) => call.id === id && call.kind === of)?.n ?? 0);
    const sends = times(kind === 'charge-token' ? 'charge' : kind);
    if (times('lookup') < 1 || times('lookup') > 2) run.fail(`${kind} ${behaviour}: ${id} took ${times('lookup')} look-ups`);
    if (sends !== 1) run.fail(`${kind} ${behaviour}: ${id} was sent to the gateway ${sends} times`);
  }
}

/** As the operator gets them. */
function countAlerts(dir: string): number {
  const logs = join(dir, 'logs');
  return readdirSync(logs).reduce((sum, file) => sum + readFileSync(join(logs, file), 'utf8').split('"alert":"gateway_amount_mismatch"').length - 1, 0);
}
