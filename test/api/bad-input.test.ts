// Whatever is sent: a clear 4xx with every bad field named, never a 500, nothing half done.
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errorCatalogue } from '../../domain/errors.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { sessionBody, startApi, type TestApi, type TestMerchant } from './app-fixture.ts';

let api: TestApi;
let merchant: TestMerchant;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  merchant = await api.addMerchant();
});
afterEach(async () => {
  expect(api.logs.filter((line) => line.includes('request failed'))).toEqual([]);
});
afterAll(() => api.stop());

const create = (change: object): Promise<ApiAnswer> => merchant.api.post('/checkout-sessions', { ...sessionBody, ...change });
const raw = (body: string | Buffer, headers: Record<string, string> = {}): Promise<ApiAnswer> => merchant.api.call('POST', '/checkout-sessions', body, { headers });

function expectError(answer: ApiAnswer, code: string, path?: string): void {
  const { status, type } = errorCatalogue[code as keyof typeof errorCatalogue];
  expect(answer.body).toMatchObject({ code, type, error: expect.any(String), request_id: answer.headers['x-request-id'] });
  expect(answer.status).toBe(status);
  if (path !== undefined) {
    expect(answer.body['errors']).toEqual(expect.arrayContaining([expect.objectContaining({ path })]));
  }
}

async function sessions(): Promise<number> {
  const [row] = await api.sql<{ n: string }>('select count(*) as n from checkout_sessions where merchant_id = $1', [merchant.merchantId]);
  return Number(row?.n);
}

describe('numbers', () => {
  test.each([
    ['0', 'amount_out_of_range'], ['-1', 'amount_out_of_range'], ['100000000', 'amount_out_of_range'], ['9007199254740992', 'amount_out_of_range'], ['1e21', 'amount_out_of_range'],
    ['1.5', 'validation_failed'], ['"100"', 'validation_failed'], ['null', 'validation_failed'], ['true', 'validation_failed'], ['[]', 'validation_failed'], ['1e400', 'validation_failed'],
  ])('amount %s is %s', async (literal, code) => {
    expectError(await raw(JSON.stringify(sessionBody).replace('2500', literal)), code, 'amount');
    expect(await sessions()).toBe(0);
  });

  test.each([0, 1441, 1.5, -1, '30'])('expires_in_minutes %j is refused', async (minutes) => {
    expectError(await create({ expires_in_minutes: minutes }), 'validation_failed', 'expires_in_minutes');
  });

  test.each([1, 1440])('expires_in_minutes %j is taken', async (minutes) => {
    expect((await create({ expires_in_minutes: minutes })).status).toBe(201);
  });

  test.each([
    [{ line_items: [{ name: 'a', quantity: 0, unit_amount: 1 }] }, 'line_items[0].quantity'],
    [{ line_items: [{ name: 'a', unit_amount: 1 }, { name: 'b', quantity: 1.5, unit_amount: 1 }] }, 'line_items[1].quantity'],
    [{ line_items: [{ name: '', unit_amount: 1 }] }, 'line_items[0].name'],
    [{ line_items: Array.from({ length: 101 }, () => ({ name: 'a', unit_amount: 1 })) }, 'line_items'],
    [{ tax_rate: 1.01 }, 'tax_rate'],
    [{ tax_rate: -0.1 }, 'tax_rate'],
  ])('%# is refused at %s', async (change, path) => {
    expectError(await create(change), 'validation_failed', path);
  });

  test('the largest line items still add up', async () => {
    const item = { name: 'a', quantity: 99_999, unit_amount: 99_999_999 };
    expect((await create({ amount: 99_999_999, line_items: Array.from({ length: 100 }, () => item) })).status).toBe(201);
  });
});

describe('currencies', () => {
  test.each(['usd', 'XXX', 'US', '', 'JPY', 'KWD', '__proto__'])('%j is not supported', async (currency) => {
    expectError(await create({ currency }), 'currency_not_supported', 'currency');
  });

  test('one without decimals and one with three can be enabled', async () => {
    expect((await merchant.api.patch('/settings', { currencies: ['JPY', 'KWD'] })).status).toBe(200);
    expect((await create({ currency: 'JPY', amount: 1 })).status).toBe(201);
    expect((await create({ currency: 'KWD', amount: 1234 })).status).toBe(201);
    expectError(await create({ currency: 'USD' }), 'currency_not_supported');
  });
});

describe('fields', () => {
  test('all bad ones are named at once', async () => {
    const answer = await merchant.api.post('/checkout-sessions', { amount: 0, currency: 'usd', success_url: 'javascript:alert(1)', amuont: 5, customer: { email: 'x', nick: 1 } });
    expectError(answer, 'validation_failed');
    const errors = Object.fromEntries((answer.body['errors'] as { path: string; code: string }[]).map((e) => [e.path, e.code]));
    expect(errors).toEqual({
      amount: 'amount_out_of_range', currency: 'currency_not_supported', success_url: 'invalid_url', failure_url: 'required',
      amuont: 'unknown_field', 'customer.email': 'invalid_email', 'customer.nick': 'unknown_field',
    });
  });

  test.each(['javascript:alert(1)', 'https://a.test/\r\nX: y', 'https://u:p@a.test/', '/x', 'https://a.test/\0', `https://a.test/${'x'.repeat(2048)}`])('success_url %j is refused', async (url) => {
    expectError(await create({ success_url: url }), 'validation_failed', 'success_url');
  });

  test.each([
    ['gateway', 'nobody', 'gateway_not_found'], ['customer_id', 'cus_00000000000000000000000000', 'customer_not_found'], ['customer_id', 'nonsense', 'customer_not_found'],
    ['test_clock', 'clk_x', 'test_clock_not_found'],
  ])('%s %j is %s', async (field, value, code) => {
    expectError(await create({ [field]: value }), code, field);
  });

  test.each(['[]', '"x"', '1', 'null', 'true'])('a body of %s is refused', async (body) => {
    expectError(await raw(body), 'validation_failed');
  });

  test('a misspelt field of an empty body is refused too', async () => {
    const { body } = await create({});
    expectError(await merchant.api.post(`/checkout-sessions/${body['id']}/expire`, { force: true }), 'validation_failed', 'force');
  });
});

describe('text and metadata', () => {
  test.each([
    ['{"a":"\\u0000"}', 'metadata.a'], ['{"a":"\\ud800"}', 'metadata.a'], ['{"\\ud800":1}', 'metadata.?'], ['{"x\\u0000":1}', 'metadata.x?'],
    ['{"__proto__":{"admin":true}}', 'metadata.__proto__'], ['{"a":{"__proto__":1}}', 'metadata.a.__proto__'],
  ])('metadata %s is refused', async (metadata, path) => {
    expectError(await raw(JSON.stringify(sessionBody).replace(/\}$/, `,"metadata":${metadata}}`)), 'validation_failed', path);
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });

  test('__proto__ beside the fields is an unknown field', async () => {
    expectError(await raw(JSON.stringify(sessionBody).replace('{', '{"__proto__":{"amount":1},')), 'validation_failed', '__proto__');
  });

  const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
  const keys = (count: number, length = 4): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [String(i).padStart(length, 'k'), 1]));
  test.each([
    ['50 keys', keys(50), 201], ['51 keys', keys(51), 422], ['10,000 keys', keys(10_000), 422], ['a key of 64', keys(1, 64), 201], ['a key of 65', keys(1, 65), 422],
    ['five levels', nested(5), 201], ['six levels', nested(6), 422], ['16 KiB', { a: 'x'.repeat(16 * 1024 - 8) }, 201], ['a byte more', { a: 'x'.repeat(16 * 1024 - 7) }, 422],
  ])('metadata of %s', async (_, metadata, status) => {
    expect((await create({ metadata })).status).toBe(status);
  });

  test.each(['[', '{"a":'])('10,000 levels of %s do not crash', async (open) => {
    const close = open === '[' ? ']' : '}';
    expectError(await raw(`{"metadata":${open.repeat(10_000)}1${close.repeat(10_000)}}`), 'validation_failed');
    expectError(await merchant.api.call('POST', '/checkout-sessions', `${'['.repeat(100_000)}`), 'malformed_json');
    const withKey = await merchant.api.call('POST', '/checkout-sessions', `{"a":${open.repeat(10_000)}1${close.repeat(10_000)}}`, { idempotencyKey: 'deep' });
    expectError(withKey, 'validation_failed');
  });
});

describe('bodies', () => {
  test('the last of two equal names counts, and a byte order mark is no fault', async () => {
    const answer = await raw(`\ufeff${JSON.stringify(sessionBody).replace('{', '{"amount":1,')}`);
    expect([answer.status, answer.body['amount']]).toEqual([201, 2500]);
  });

  test.each(['{', '{"a":1,}', "{'a':1}", 'NaN', '{"a":01}', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])])('%# is malformed', async (body) => {
    expectError(await raw(body), 'malformed_json');
  });

  test('what was wrong is told without repeating the body', async () => {
    const answer = await raw('{"card":{"number":"4242424242424242", oops}');
    expectError(answer, 'malformed_json');
    expect(answer.text).not.toContain('4242');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', 'application/jsonp', ''])('content type %j is refused', async (type) => {
    expectError(await raw(JSON.stringify(sessionBody), { 'content-type': type }), 'unsupported_media_type');
  });

  test('an empty body is {}', async () => {
    expectError(await merchant.api.call('POST', '/checkout-sessions'), 'validation_failed', 'amount');
    expectError(await raw('  '), 'validation_failed', 'amount');
  });

  test('256 KiB are read, a byte more and a megabyte are refused', async () => {
    const padded = (size: number): string => JSON.stringify(sessionBody).padEnd(size, ' ');
    expect((await raw(padded(256 * 1024))).status).toBe(201);
    expectError(await raw(padded(256 * 1024 + 1)), 'payload_too_large');
    expectError(await create({ metadata: { a: 'x'.repeat(1024 * 1024) } }), 'payload_too_large');
  });

  test('gzip is read within the same limit, a bomb is refused and other encodings too', async () => {
    expect((await raw(gzipSync(JSON.stringify(sessionBody)), { 'content-encoding': 'gzip' })).status).toBe(201);
    expectError(await raw(gzipSync(Buffer.alloc(50 * 1024 * 1024)), { 'content-encoding': 'gzip' }), 'payload_too_large');
    expectError(await raw('not gzip', { 'content-encoding': 'gzip' }), 'malformed_json');
    expectError(await raw(JSON.stringify(sessionBody), { 'content-encoding': 'br' }), 'unsupported_media_type');
  });
});

test('a domain whose host and kind are both bad has both named', async () => {
  const answer = await merchant.api.post('/domains', { hostname: 'a b', kind: 'x' });
  expectError(answer, 'validation_failed', 'hostname');
  expectError(answer, 'validation_failed', 'kind');
});

test('a saved card is not charged in live mode with a plain http redirect, registered host or not', async () => {
  await merchant.liveApi.post('/domains', { hostname: 'shop.test', kind: 'plugin' });
  const urls = { success_url: 'http://shop.test/paid', failure_url: 'https://shop.test/failed' };
  const answer = await merchant.liveApi.post('/charge-token', { token_id: `pt_${'0'.repeat(26)}`, amount: 100, currency: 'USD', ...urls });
  expect((answer.body['errors'] as { path: string; code: string }[]).map(({ path, code }) => [path, code])).toEqual([
    ['token_id', 'token_not_found'],
    ['success_url', 'redirect_host_not_registered'],
  ]);
});

test('paths that decode to nonsense are absent', async () => {
  for (const path of ['/domains/%00', '/idempotency-keys/%00', '/checkout-sessions/%00', '/checkout-sessions/cs_x', '/checkout-sessions/%E0%A4%A', '/webhook-endpoints/we_1']) {
    expectError(await merchant.api.call(path.startsWith('/domains') ? 'DELETE' : 'GET', path), 'not_found');
  }
});
