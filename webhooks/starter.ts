// Starts the workflows of deliveries that have to wait, a few at a time, and notes which were started. A start that
// fails or finds no room is left to the sweep.
import type { WaitingDelivery } from '../models/delivery.ts';
import type { Log } from '../platform/log.ts';

export interface StarterDeps {
  readonly start: (input: WaitingDelivery) => Promise<void>;
  readonly markStarted: (deliveryIds: readonly string[]) => Promise<void>;
  readonly log: Pick<Log, 'warn'>;
}

export interface Starter {
  /** Resolves when it was tried, never rejects. */
  start(input: WaitingDelivery): Promise<void>;
}

const maxStartsAtOnce = 8;
/** While Temporal is away each start takes seconds to fail; more than this are not worth the memory. */
const maxWaiting = 1000;

export function createStarter(deps: StarterDeps): Starter {
  const waiting: (() => void)[] = [];
  let running = 0;
  let started: string[] = [];
  let marking: Promise<void> | null = null;

  // Starts that end close together are noted in one statement.
  const note = (id: string): Promise<void> => {
    started.push(id);
    marking ??= Promise.resolve().then(async () => {
      const ids = started;
      started = [];
      marking = null;
      await deps.markStarted(ids);
    });
    return marking;
  };

  return {
    async start({ deliveryId, round, nextAttemptAtMs }) {
      if (running >= maxStartsAtOnce) {
        if (waiting.length >= maxWaiting) return;
        await new Promise<void>((turn) => waiting.push(turn));
      }
      running += 1;
      try {
        await deps.start({ deliveryId, round, nextAttemptAtMs });
        await note(deliveryId);
      } catch (err) {
        deps.log.warn({ err, deliveryId }, 'a webhook retry could not be started; the sweep will');
      } finally {
        running -= 1;
        waiting.shift()?.();
      }
    },
  };
}
