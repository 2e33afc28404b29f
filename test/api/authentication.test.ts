import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { markKeysUsed } from '../../models/api-key.ts';
import { revokeKey } from '../../operations/revoke-key.ts';
import { startApi, type TestApi } from './app-fixture.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

test('a valid key is told whose it is', async () => {
  const merchant = await api.addMerchant();
  const me = await merchant.api.get('/me');
  expect(me.status).toBe(200);
  expect(me.body).toEqual({
    merchant: { id: merchant.merchantId, name: 'Demo Merchant' },
    mode: 'test',
    key: { id: merchant.testKeyId, prefix: 'svc_test_', last4: merchant.test.slice(-4) },
  });
  expect(me.headers['x-request-id']).toMatch(/^req_[0-9a-z]{26}$/);
  expect(me.headers['x-ratelimit-limit']).toBe('120');
  expect(me.headers['x-ratelimit-remaining']).toBe('119');
  expect((await merchant.liveApi.get('/me')).body).toMatchObject({ mode: 'live' });
});

test('missing, malformed, unknown, revoked and expired keys get one and the same 401', async () => {
  const merchant = await api.addMerchant();
  const other = await api.addMerchant();
  await revokeKey(api.operations, merchant.test);
  await api.sql(`update api_keys set expires_at = now() - interval '1 ms' where key_hash = $1`, [createHash('sha256').update(other.test).digest()]);
  const unknown = `svc_test_${'x'.repeat(43)}`;
  const answers = await Promise.all([
    merchant.api.get('/me', { key: null }),
    merchant.api.get('/me', { key: null, headers: { authorization: 'Basic abc' } }),
    merchant.api.get('/me', { key: 'nonsense' }),
    merchant.api.get('/me', { key: unknown }),
    merchant.api.get('/me'),
    other.api.get('/me'),
  ]);
  for (const answer of answers) {
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect({ ...answer.body, request_id: '' }).toEqual({ ...answers[0]?.body, request_id: '' });
    expect(answer.body['code']).toBe('invalid_api_key');
    expect(answer.body['request_id']).toBe(answer.headers['x-request-id']);
  }
});

test('a key is found by its hash and is nowhere in the database in clear', async () => {
  const merchant = await api.addMerchant();
  const rows = await api.sql<{ row: string }>('select k::text as row from api_keys k');
  expect(rows.some(({ row }) => row.includes(merchant.test.slice(9)))).toBe(false);
});

test('traffic without a key is limited to 300 a minute and address', async () => {
  await api.sql('delete from rate_windows');
  const merchant = await api.addMerchant();
  const answers = await Promise.all(Array.from({ length: 310 }, () => merchant.api.get('/me', { key: null })));
  expect(answers.filter((answer) => answer.status === 401)).toHaveLength(300);
  const refused = answers.filter((answer) => answer.status === 429);
  expect(refused).toHaveLength(10);
  expect(refused[0]?.headers['retry-after']).toBe(String(refused[0]?.body['retry_after']));
  // A valid key at the same address is not held up by strangers.
  expect((await merchant.api.get('/me')).status).toBe(200);
  await api.sql('delete from rate_windows');
});

test('the last use of a key is noted', async () => {
  const own = await startApi();
  const merchant = await own.addMerchant();
  await merchant.api.get('/me');
  const { db, sql } = own;
  const at = new Date();
  await markKeysUsed(db, new Map([[merchant.testKeyId, at]]));
  await markKeysUsed(db, new Map([[merchant.testKeyId, new Date(at.getTime() + 30_000)]]));
  const [row] = await sql<{ last_used_at: Date }>('select last_used_at from api_keys where id = $1', [merchant.testKeyId]);
  expect(row?.last_used_at.getTime()).toBe(at.getTime());
  await own.stop();
});

test('an unknown path or method is a JSON 404, with the limits when the key is valid', async () => {
  const merchant = await api.addMerchant();
  for (const [method, path] of [['GET', '/nothing'], ['PUT', '/me'], ['DELETE', '/checkout-sessions'], ['GET', '/me/'], ['GET', '/%']] as const) {
    const answer = await merchant.api.call(method, path);
    expect(answer.status).toBe(404);
    expect(answer.body['code']).toBe('not_found');
    expect(answer.headers['x-ratelimit-limit']).toBe('120');
    expect((await merchant.api.call(method, path, undefined, { key: null })).status).toBe(404);
  }
});
