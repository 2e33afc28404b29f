// Delivery and look-up schedules: the waits, what they add up to, and who may lengthen them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptWaitsMs, isDelivered, maxAttempts, retryAfterCapMs, waitAfterAttempt } from '../../../domain/delivery-schedule.ts';
import { lookupWaitMs, lookupWaitsMs } from '../../../domain/reconcile-schedule.ts';

const hour = 3_600_000;

describe('the delivery schedule', () => {
  it('is ten attempts over 75.6 hours', () => {
    expect(maxAttempts).toBe(10);
    expect(Math.round(attemptWaitsMs.reduce((sum, wait) => sum + wait, 0) / hour * 10) / 10).toBe(75.6);
    expect(attemptWaitsMs.map((wait) => wait / 1000)).toEqual([0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
  });

  it('waits the next wait after each attempt and ends after the tenth', () => {
    for (let n = 1; n < maxAttempts; n++) expect(waitAfterAttempt(n, 0)).toBe(attemptWaitsMs[n]);
    expect(waitAfterAttempt(maxAttempts, 0)).toBeNull();
    expect(waitAfterAttempt(maxAttempts, 0, hour)).toBeNull();
  });

  it('adds a tenth at most, and never takes away', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.double({ min: 0, max: 0.999_999, noNaN: true }), (n, random) => {
        const wait = waitAfterAttempt(n, random) ?? 0;
        const planned = attemptWaitsMs[n] ?? 0;
        expect(wait).toBeGreaterThanOrEqual(planned);
        expect(wait).toBeLessThanOrEqual(planned * 1.1 + 1);
      }),
    );
  });

  it('lets a receiver ask for longer, up to a day, and not for shorter', () => {
    expect(waitAfterAttempt(1, 0, 60_000)).toBe(60_000);
    expect(waitAfterAttempt(2, 0, 1000)).toBe(300_000);
    expect(waitAfterAttempt(1, 0, 400 * hour)).toBe(retryAfterCapMs);
    expect(retryAfterCapMs).toBe(24 * hour);
  });

  it('counts 2xx alone as delivered: a redirect is a failure', () => {
    expect([200, 201, 204, 299].every(isDelivered)).toBe(true);
    expect([100, 199, 300, 301, 302, 307, 400, 410, 429, 500].some(isDelivered)).toBe(false);
  });
});

describe('the look-up schedule of an unknown outcome', () => {
  it('asks 10 s, 1 min, 5 min, 30 min and 2 h after the charge, then daily', () => {
    let at = 0;
    const asked = lookupWaitsMs.slice(0, 5).map((wait) => (at += wait) / 1000);
    expect(asked).toEqual([10, 60, 300, 1800, 7200]);
    expect(lookupWaitMs(0)).toBe(10_000);
    expect(lookupWaitMs(5)).toBe(24 * hour);
    expect(lookupWaitMs(500)).toBe(24 * hour);
  });
});
