// When an unknown outcome is looked up, and what is decided when the gateway knows nothing of it.
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Milliseconds between look-ups; the last one repeats for ever. A look-up that cannot reach the gateway uses none of them. */
export const lookupWaitsMs = [10 * second, 50 * second, 4 * minute, 25 * minute, 90 * minute, 24 * hour] as const;
/** An unreachable look-up is repeated this soon. */
export const unreachableLookupWaitMs = 30 * second;
/** A payment unsettled for this long is an alert for the operator. */
export const unsettledAlertMs = 7 * 24 * hour;

/** Milliseconds until the next look-up after `done` answered ones. */
export function lookupWaitMs(done: number): number {
  return lookupWaitsMs[Math.min(done, lookupWaitsMs.length - 1)] ?? 24 * hour;
}
