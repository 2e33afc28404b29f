// What a scenario is: a name, how often it is repeated by default and in full, and a run that breaks something and notes
// what clients saw. Waiting for quiet and judging is the runner's, the same for all.
import type { ChaosStack } from './stack.ts';
import type { World } from './world.ts';

export interface Scenario {
  /** As `--only` takes it. */
  readonly name: string;
  readonly title: string;
  readonly repeats: { readonly usual: number; readonly full: number };
  run(run: ScenarioRun): Promise<void>;
}

export interface ScenarioRun {
  readonly stack: ChaosStack;
  readonly world: World;
  readonly repeats: number;
  /** Something that must not be, beyond what the checker sees. */
  fail(what: string): void;
  /** How long something took to be right again, in milliseconds. */
  recovered(ms: number): void;
  /** Printed at the end, equal ones counted. */
  note(what: string): void;
  /** A number in [0, 1), the same for the same seed. */
  random(): number;
}

/** The p99 of recovery after a kill. Reliability: F1. */
export const recoveryLimitMs = 45_000;
