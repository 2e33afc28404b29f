// What the end of an attempt means, and when the next one is made.
import { describe, expect, test } from 'vitest';
import { attemptWaitsMs, maxAttempts, waitAfterAttempt } from '../../../domain/delivery-schedule.ts';
import type { LeasedDelivery } from '../../../models/outbox.ts';
import { judge } from '../../../webhooks/attempt.ts';
import { type PostResult, retryAfterMs } from '../../../webhooks/post.ts';

const delivery = { id: 'dlv_1', endpointId: 'we_1', attempt: 1, round: 1 } as LeasedDelivery;

function aResult(fields: Partial<PostResult>): PostResult {
  return { startedAt: new Date(), durationMs: 20, statusCode: 200, responseHeaders: {}, responseBody: '', error: null, errorStage: null, retryAfterMs: null, ...fields };
}

describe('judging', () => {
  test.each([200, 201, 202, 204, 299])('%d delivers', (statusCode) => {
    expect(judge(delivery, aResult({ statusCode }), 0)).toMatchObject({ verdict: 'delivered', error: null, slow: false });
  });

  test.each([199, 300, 301, 302, 304, 307, 400, 401, 404, 409, 429, 500, 503])('%d is tried again', (statusCode) => {
    expect(judge(delivery, aResult({ statusCode }), 0)).toMatchObject({ verdict: 'retry', waitMs: 5000, slow: true, error: `the receiver answered ${statusCode}` });
  });

  test('410 ends the endpoint, no answer is tried again, a late success is slow', () => {
    expect(judge(delivery, aResult({ statusCode: 410 }), 0).verdict).toBe('gone');
    expect(judge(delivery, aResult({ statusCode: null, error: 'connect ECONNREFUSED', errorStage: 'connect' }), 0)).toMatchObject({ verdict: 'retry', error: 'connect ECONNREFUSED' });
    expect(judge(delivery, aResult({ durationMs: 1001 }), 0)).toMatchObject({ verdict: 'delivered', slow: true });
  });

  test('the tenth failure is the last', () => {
    expect(judge({ ...delivery, attempt: maxAttempts - 1 }, aResult({ statusCode: 500 }), 0).verdict).toBe('retry');
    expect(judge({ ...delivery, attempt: maxAttempts }, aResult({ statusCode: 500 }), 0).verdict).toBe('failed');
  });
});

describe('the schedule', () => {
  test('is ten attempts over 75.6 hours', () => {
    expect(maxAttempts).toBe(10);
    expect(attemptWaitsMs.reduce<number>((sum, wait) => sum + wait, 0) / 3_600_000).toBeCloseTo(75.58, 1);
  });

  test('jitters by up to a tenth and never less than planned', () => {
    expect(waitAfterAttempt(1, 0)).toBe(5000);
    expect(waitAfterAttempt(1, 0.999)).toBeLessThanOrEqual(5500);
    expect(waitAfterAttempt(10, 0)).toBeNull();
  });

  test('honours a longer Retry-After up to a day, and no shorter one', () => {
    expect(waitAfterAttempt(1, 0, 60_000)).toBe(60_000);
    expect(waitAfterAttempt(2, 0, 1000)).toBe(300_000);
    expect(waitAfterAttempt(1, 0, 9e9)).toBe(86_400_000);
    expect(waitAfterAttempt(10, 0, 1000)).toBeNull();
  });
});

describe('Retry-After', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  test.each([
    ['120', 120_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    [' 5 ', 5000],
    ['0', null],
    ['-5', null],
    ['Wed, 31 Dec 2025 00:00:00 GMT', null],
    ['soon', null],
    ['', null],
    ['1e9', null],
    [undefined, null],
  ])('%j is %j ms', (text, ms) => {
    expect(retryAfterMs(text, now)).toBe(ms);
  });
});
