// Keeps one child going: whoever ends unasked is started again in the same place, with a pause that grows while it
// keeps failing. Knows nothing of what the child is.
import { setTimeout as pause } from 'node:timers/promises';

export interface Startable {
  readonly pid: number;
  readonly ended: Promise<string>;
  readonly stop: () => Promise<void>;
}

export interface Supervised<Child extends Startable> {
  /** The one that runs now, or ran last. */
  readonly current: () => Child;
  /** Stops it for good. */
  readonly stop: () => Promise<void>;
}

export interface SupervisorTold {
  readonly onEnded: (name: string, reason: string) => void;
  readonly onRestarted: (name: string, pid: number) => void;
  readonly onFailed: (name: string, error: unknown) => void;
}

const firstPauseMs = 200;
const longestPauseMs = 10_000;
// One that held out this long has recovered: the next pause is short again.
const steadyMs = 60_000;

/** Resolves when the first start has succeeded; its failure is the caller's. */
export async function supervise<Child extends Startable>(name: string, start: () => Promise<Child>, told: SupervisorTold): Promise<Supervised<Child>> {
  let child = await start();
  const stopping = new AbortController();
  const loop = (async () => {
    let pauseMs = firstPauseMs;
    for (;;) {
      const begun = Date.now();
      const reason = await child.ended;
      if (stopping.signal.aborted) return;
      told.onEnded(name, reason);
      if (Date.now() - begun > steadyMs) pauseMs = firstPauseMs;
      for (;;) {
        await pause(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (stopping.signal.aborted) return;
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
        try {
          child = await start();
          break;
        } catch (error) {
          told.onFailed(name, error);
        }
      }
      if (stopping.signal.aborted) {
        await child.stop();
        return;
      }
      told.onRestarted(name, child.pid);
    }
  })();
  return {
    current: () => child,
    async stop() {
      stopping.abort();
      await child.stop();
      await loop;
    },
  };
}
