import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAdmission } from '../../api/admission.ts';
import { openDatabase } from '../../models/database.ts';
import { dropIdleRateWindows } from '../../models/rate-window.ts';
import { startApi, type TestApi } from './app-fixture.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

test('of 200 calls at once exactly 120 are let through, each told how many are left', async () => {
  const merchant = await api.addMerchant();
  const answers = await Promise.all(Array.from({ length: 200 }, () => merchant.api.get('/me')));
  const allowed = answers.filter((answer) => answer.status === 200);
  expect(allowed).toHaveLength(120);
  const remaining = allowed.map((answer) => Number(answer.headers['x-ratelimit-remaining'])).sort((a, b) => a - b);
  expect(remaining).toEqual(Array.from({ length: 120 }, (_, i) => i));
  for (const refused of answers.filter((answer) => answer.status !== 200)) {
    expect(refused.status).toBe(429);
    expect(Object.keys(refused.body).sort()).toEqual(['error', 'retry_after']);
    const seconds = refused.body['retry_after'] as number;
    expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60).toBe(true);
    expect(refused.headers['retry-after']).toBe(String(seconds));
    expect(refused.headers['x-ratelimit-limit']).toBe('120');
    expect(refused.headers['x-ratelimit-remaining']).toBe('0');
  }
});

test('refused calls leave no mark and the window rolls call by call', async () => {
  const merchant = await api.addMerchant();
  await Promise.all(Array.from({ length: 130 }, () => merchant.api.get('/me')));
  const bucket = `${merchant.testKeyId}:writes`;
  const [{ hits = 0 } = {}] = await api.sql<{ hits: number }>('select cardinality(hits) as hits from rate_windows where bucket = $1', [bucket]);
  expect(hits).toBe(120);
  // The three oldest calls leave the window.
  await api.sql(`update rate_windows set hits = array(select h - interval '61 s' from unnest(hits[1:3]) h) || hits[4:] where bucket = $1`, [bucket]);
  const answers = await Promise.all(Array.from({ length: 5 }, () => merchant.api.get('/me')));
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(3);
});

test('a refused call is told when the oldest one leaves the window', async () => {
  const merchant = await api.addMerchant();
  await merchant.api.get('/me');
  const bucket = `${merchant.testKeyId}:writes`;
  // 120 calls within 12 s, the first of them 50 s ago.
  await api.sql(`update rate_windows set hits = array(select clock_timestamp() - interval '50 s' + i * interval '0.1 s' from generate_series(0, 119) i) where bucket = $1`, [bucket]);
  const refused = await merchant.api.get('/me');
  expect(refused.status).toBe(429);
  expect([9, 10]).toContain(refused.body['retry_after']);
});

test('keys and tiers have windows of their own', async () => {
  const merchant = await api.addMerchant();
  await Promise.all(Array.from({ length: 120 }, () => merchant.api.get('/me')));
  expect((await merchant.api.get('/me')).status).toBe(429);
  expect((await merchant.liveApi.get('/me')).status).toBe(200);
  const admission = createAdmission(api.db);
  expect((await admission.key(merchant.test, 'payment-mutations'))?.remaining).toBe(59);
  await admission.close();
});

test('several processes share one window and never let one too many through', async () => {
  const merchant = await api.addMerchant();
  const databases = [1, 2, 3].map(() => openDatabase({ url: api.databaseUrl, poolSize: 6, statementTimeoutMs: 15_000, onConnectionError: () => undefined }));
  const admissions = databases.map(createAdmission);
  const calls = Array.from({ length: 300 }, (_, i) => admissions[i % 3]!.key(merchant.test, 'payment-mutations'));
  const allowed = (await Promise.all(calls)).filter((admitted) => admitted?.allowed === true);
  expect(allowed).toHaveLength(60);
  expect(new Set(allowed.map((admitted) => admitted?.remaining)).size).toBe(60);
  await Promise.all(admissions.map((admission) => admission.close()));
  await Promise.all(databases.map((database) => database.close()));
});

test('batches over many keys in different orders never deadlock', async () => {
  const merchants = await Promise.all(Array.from({ length: 10 }, () => api.addMerchant()));
  const databases = [1, 2, 3].map(() => openDatabase({ url: api.databaseUrl, poolSize: 6, statementTimeoutMs: 15_000, onConnectionError: () => undefined }));
  const admissions = databases.map(createAdmission);
  for (let round = 0; round < 20; round++) {
    await Promise.all(admissions.flatMap((admission, i) => (i % 2 === 0 ? merchants : [...merchants].reverse()).map((m) => admission.key(m.test, 'writes'))));
  }
  await Promise.all(databases.map((database) => database.close()));
});

test('windows that nothing touches are forgotten', async () => {
  const merchant = await api.addMerchant();
  await merchant.api.get('/me');
  const bucket = `${merchant.testKeyId}:writes`;
  await api.sql(`update rate_windows set touched_at = now() - interval '3 minutes' where bucket = $1`, [bucket]);
  await dropIdleRateWindows(api.db, 1_000);
  expect(await api.sql('select 1 from rate_windows where bucket = $1', [bucket])).toEqual([]);
});
