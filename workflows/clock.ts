// Time and waiting for workflows that sleep. Workflows take the time from here and nowhere else.
import { allHandlersFinished, condition } from '@temporalio/workflow';

/** Workflow time, UTC milliseconds; the same on every replay. */
export function nowMs(): number {
  return Date.now();
}

/** Sleeps to an instant (UTC ms) unless `interrupt` becomes true first. @returns whether it was interrupted */
export async function sleepUntil(instantMs: number, interrupt: () => boolean): Promise<boolean> {
  if (interrupt()) return true;
  const ms = instantMs - nowMs();
  if (ms <= 0) return false;
  return condition(interrupt, ms);
}

/**
 * To be awaited before every return: lets handlers finish, but says false when a command came in meanwhile, so that the
 * loop goes round again. Waiting for the handlers alone can deadlock, because that command's handler waits for the loop.
 */
export async function release(busy: () => boolean): Promise<boolean> {
  if (busy()) return false;
  await condition(() => busy() || allHandlersFinished());
  return !busy();
}
