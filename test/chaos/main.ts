// `npm run test:chaos`: runs the scenarios one after the other, each on a stack of its own, and judges each with the one
// checker. `--only f1,r3`, `--repeats n`, `--full` (the counts of the reliability requirements), `--seed n`.
import { parseArgs } from 'node:util';
import { check, type Violation } from './checker/checker.ts';
import { recoveryLimitMs, type Scenario } from './scenario.ts';
import { endRaces } from './scenarios/end-races.ts';
import { keyRaces } from './scenarios/key-races.ts';
import { killApi } from './scenarios/kill-api.ts';
import { killWorker, killWorkerAnytime } from './scenarios/kill-worker.ts';
import { lostAnswers, wrongAnswers } from './scenarios/lost-answers.ts';
import { lostMoneyAnswers, wrongMoneyAnswers } from './scenarios/money-answers.ts';
import { killMoneyApi, killMoneyWorker } from './scenarios/money-kills.ts';
import { moneyRaces, randomMix, refundRaces } from './scenarios/money-races.ts';
import { payRaces } from './scenarios/pay-races.ts';
import { temporalAway, temporalEmpty, temporalRestarts } from './scenarios/temporal-outage.ts';
import { startChaosStack } from './stack.ts';
import { startWorld } from './world.ts';

const scenarios: readonly Scenario[] = [killWorker, killWorkerAnytime, killApi, temporalRestarts, temporalAway, temporalEmpty, lostAnswers, wrongAnswers, payRaces, keyRaces, endRaces, killMoneyWorker, killMoneyApi, lostMoneyAnswers, wrongMoneyAnswers, refundRaces, moneyRaces, randomMix];

interface Result {
  readonly scenario: Scenario;
  readonly repeats: number;
  readonly failures: readonly string[];
  readonly recoveryP99Ms: number | null;
  readonly tookMs: number;
}

const { values } = parseArgs({ options: { only: { type: 'string' }, repeats: { type: 'string' }, full: { type: 'boolean' }, seed: { type: 'string' } } });
const wanted = values.only?.split(',');
const chosen = scenarios.filter(({ name }) => wanted === undefined || wanted.some((only) => name === only || name.startsWith(`${only}-`)));
if (chosen.length === 0) {
  console.error(`There is no such scenario; there are ${scenarios.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}
const seed = Number(values.seed ?? Date.now() % 1_000_000);
console.log(`seed ${seed}`);

const results: Result[] = [];
for (const scenario of chosen) results.push(await runScenario(scenario));
report();

async function runScenario(scenario: Scenario): Promise<Result> {
  const repeats = values.repeats === undefined ? scenario.repeats[values.full === true ? 'full' : 'usual'] : Number(values.repeats);
  const begun = Date.now();
  console.log(`\n${scenario.name}: ${scenario.title}, ${repeats} times`);
  const failures: string[] = [];
  const recoveries: number[] = [];
  const notes = new Map<string, number>();
  const fail = (what: string): void => {
    failures.push(what);
    if (failures.length <= 20) console.log(`  not so: ${what}`);
  };
  const stack = await startChaosStack();
  try {
    const bootstrap = await stack.startApi();
    const world = await startWorld(stack);
    await bootstrap.kill();
    try {
      const run = { stack, world, repeats, fail, recovered: (ms: number) => void recoveries.push(ms), note: (what: string) => void notes.set(what, (notes.get(what) ?? 0) + 1), random: randomFrom(seed) };
      await scenario.run(run);
      // Scenarios may leave no worker behind; what is left to do still has to be done.
      const helper = await stack.startWorker();
      const verdict = await check(world);
      verdict.violations.forEach((violation: Violation) => fail(`${violation.invariant}: ${violation.what}`));
      console.log(`  ${Object.entries(verdict.counts).map(([name, count]) => `${count} ${name}`).join(', ')}; quiet after ${(verdict.quietAfterMs / 1000).toFixed(1)} s`);
      await helper.stop();
    } finally {
      await world.stop();
    }
  } catch (error) {
    fail(`the scenario broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    await stack.stop();
  }
  for (const [note, count] of notes) console.log(`  ${note}${count > 1 ? ` (${count} times)` : ''}`);
  const recoveryP99Ms = percentile99(recoveries);
  if ((scenario === killWorker || scenario === killWorkerAnytime || scenario === killMoneyWorker) && recoveryP99Ms !== null && recoveryP99Ms > recoveryLimitMs) fail(`recovery p99 is ${recoveryP99Ms} ms`);
  return { scenario, repeats, failures, recoveryP99Ms, tookMs: Date.now() - begun };
}

function percentile99(all: readonly number[]): number | null {
  const sorted = all.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? null;
}

/** Mulberry32: small, and good enough to choose instants. */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function report(): void {
  const passed = results.filter(({ failures }) => failures.length === 0).length;
  console.log('\nscenario      repeats  result  violations  recovery p99   took');
  for (const { scenario, repeats, failures, recoveryP99Ms, tookMs } of results) {
    const p99 = recoveryP99Ms === null ? '' : `${(recoveryP99Ms / 1000).toFixed(1)} s`;
    console.log([scenario.name.padEnd(12), String(repeats).padStart(8), (failures.length === 0 ? 'pass' : 'FAIL').padStart(7), String(failures.length).padStart(11), p99.padStart(13), `${Math.round(tookMs / 1000)} s`.padStart(6)].join(' '));
  }
  console.log(`${passed} passed, ${results.length - passed} failed`);
  process.exitCode = passed === results.length ? 0 : 1;
}
