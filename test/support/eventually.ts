// Waiting in tests: ask again until the answer is right. The only place in the tests that lets time pass.
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Calls `attempt` until it neither throws nor rejects, and gives its result.
 * @param options.withinMs give up after this long (default 15 s) and throw the last error
 * @param options.everyMs between two calls (default 25 ms)
 */
export async function eventually<Result>(attempt: () => Result | Promise<Result>, options: { withinMs?: number; everyMs?: number } = {}): Promise<Result> {
  const deadline = Date.now() + (options.withinMs ?? 15_000);
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() >= deadline) {
        if (error instanceof Error) error.message = `not within ${options.withinMs ?? 15_000} ms: ${error.message}`;
        throw error;
      }
    }
    await pause(options.everyMs ?? 25);
  }
}

/** Like `eventually`, for a value that is null or undefined until it is there. */
export function eventuallyFound<Result>(look: () => Result | null | undefined | Promise<Result | null | undefined>, what = 'it', options: { withinMs?: number; everyMs?: number } = {}): Promise<Result> {
  return eventually(async () => {
    const found = await look();
    if (found === null || found === undefined) throw new Error(`${what} is not there`);
    return found;
  }, options);
}

/** Holds that a condition stays true for a while: for "nothing further happens". Keep it short. */
export async function remains(check: () => void | Promise<void>, forMs: number): Promise<void> {
  const end = Date.now() + forMs;
  while (Date.now() < end) {
    await check();
    await pause(25);
  }
}
