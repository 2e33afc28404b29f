// The one checker, run after every fault: waits until the dust has settled, then holds the gateway's ledger, Postgres,
// Temporal's histories, the receivers and the clients' own records against the invariants V1 to V4 and V7 to V10.
import type { World } from '../world.ts';
import { checkEvents } from './events.ts';
import { checkMoney } from './money.ts';
import { checkMovements } from './movements.ts';
import { checkOwners } from './owners.ts';
import { checkReplays } from './replays.ts';
import { checkSecrets } from './secrets.ts';
import { waitUntilQuiet } from './quiet.ts';

export interface Violation {
  readonly invariant: 'V1' | 'V2' | 'V3' | 'V4' | 'V7' | 'V8' | 'V9' | 'V10';
  readonly what: string;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  /** From the call of this check to quiescence. */
  readonly quietAfterMs: number;
  readonly counts: Readonly<Record<string, number>>;
}

export async function check(world: World): Promise<Verdict> {
  const quiet = await waitUntilQuiet(world);
  const money = await checkMoney(world);
  const parts = await Promise.all([checkMovements(world), checkEvents(world), checkOwners(world)]);
  // Replays are requests: they come after what reads the rows. What they wrote must not show in the second look.
  const replays = await checkReplays(world);
  const again = await checkMoney(world);
  const movedAgain = await checkMovements(world);
  const secrets = await checkSecrets(world);
  return {
    violations: [...quiet.violations, ...money.violations, ...parts.flat(), ...replays, ...(money.violations.length === 0 ? again.violations : []), ...(parts[0].length === 0 ? movedAgain : []), ...secrets],
    quietAfterMs: quiet.afterMs,
    counts: money.counts,
  };
}
