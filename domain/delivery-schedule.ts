// When a webhook delivery is tried again and how long a receiver may take. Waits follow the previous attempt.
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Milliseconds to wait before attempt n (index 0 is the direct first attempt): ten attempts over 75.6 hours. */
export const attemptWaitsMs = [0, 5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour] as const;
export const maxAttempts = attemptWaitsMs.length;
/** Jitter spreads the retries of an outage, at most a tenth of the wait. */
export const maxJitterShare = 0.1;
export const attemptTimeoutMs = 15 * second;
/** The direct attempt shares a small pool with every other commit, so it waits less. */
export const directAttemptTimeoutMs = 5 * second;
/** A lease outlives the attempt it covers, so that nobody takes over a request that is still on the wire. */
export const leaseMarginMs = 5 * second;
export const retryAfterCapMs = 24 * hour;
export const answerReadLimitBytes = 64 * 1024;
export const answerKeptBytes = 10 * 1024;
/** An earlier unfinished event of the same resource delays a later one at most this long. */
export const orderHoldMs = 60 * second;
/** An endpoint with nothing but failures for this long is disabled. */
export const disableAfterMs = 5 * 24 * hour;
export const warnAfterFailures = 3;

/**
 * Milliseconds from the end of failed attempt `n` (1-based) to the next one, or null when it was the last.
 * `retryAfterMs` is the receiver's own wish, honoured up to 24 h when it is longer; `random` in [0, 1).
 */
export function waitAfterAttempt(n: number, random: number, retryAfterMs: number | null = null): number | null {
  const base = attemptWaitsMs[n];
  if (base === undefined) return null;
  const planned = Math.round(base * (1 + maxJitterShare * random));
  return Math.max(planned, Math.min(retryAfterMs ?? 0, retryAfterCapMs));
}

/** Only 2xx counts as delivered; redirects are failures and never followed. */
export function isDelivered(statusCode: number): boolean {
  return statusCode >= 200 && statusCode < 300;
}
