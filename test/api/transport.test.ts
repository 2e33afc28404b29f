// What happens below JSON: bytes that are no HTTP, slow and endless senders, many connections, stopping.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { startApi, type TestApi, type TestMerchant } from './app-fixture.ts';

let api: TestApi;
let merchant: TestMerchant;
beforeAll(async () => {
  api = await startApi();
  merchant = await api.addMerchant();
});
afterAll(() => api.stop());

/** Sends bytes and gives back everything until the server closes, or until `enough`. */
function exchange(send: (socket: Socket) => void, enough: (text: string) => boolean = () => false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(api.port, '127.0.0.1', () => send(socket));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (enough(text)) socket.destroy();
    });
    // A reset after the answer arrived is the server's right.
    socket.on('error', (error) => (text === '' ? reject(error) : resolve(text)));
    socket.on('close', () => resolve(text));
  });
}

function parse(text: string): { status: number; headers: string; body: Record<string, unknown> } {
  const [headers = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(headers.split(' ')[1]), headers, body: JSON.parse(body) as Record<string, unknown> };
}

test('bytes that are no HTTP get a 400 in the usual form', async () => {
  const answer = parse(await exchange((socket) => socket.end('nonsense\r\n\r\n')));
  expect([answer.status, answer.body['code'], answer.body['type']]).toEqual([400, 'malformed_request', 'invalid_request']);
  expect(answer.headers).toContain(`X-Request-Id: ${answer.body['request_id']}`);
});

test.each([
  ['no Host', 'GET /api/v1/me HTTP/1.1\r\n\r\n'],
  ['an unknown expectation', 'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nExpect: 200-maybe\r\n\r\n'],
])('%s gets a 400 in the usual form, not an empty one', async (_, bytes) => {
  const answer = parse(await exchange((socket) => socket.write(bytes)));
  expect([answer.status, answer.body['code']]).toEqual([400, 'malformed_request']);
  expect(answer.headers).toContain(`X-Request-Id: ${answer.body['request_id']}`);
});

test('64 KiB of headers get a 431', async () => {
  const answer = parse(await exchange((socket) => socket.write(`GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(64 * 1024)}\r\n\r\n`)));
  expect([answer.status, answer.body['code']]).toEqual([431, 'headers_too_large']);
});

test('headers that never end get a 408', { timeout: 30_000 }, async () => {
  const answer = parse(await exchange((socket) => socket.write('GET /api/v1/me HTTP/1.1\r\nHost: x\r\n')));
  expect([answer.status, answer.body['code']]).toEqual([408, 'request_timeout']);
});

test('a body that never ends in chunks is cut off with a 413', async () => {
  let timer: NodeJS.Timeout | undefined;
  const text = await exchange((socket) => {
    socket.write(`POST /api/v1/checkout-sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${merchant.test}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    timer = setInterval(() => socket.writable && socket.write(chunk), 5);
  });
  clearInterval(timer);
  const answer = parse(text);
  expect([answer.status, answer.body['code']]).toEqual([413, 'payload_too_large']);
  expect(answer.headers.toLowerCase()).toContain('connection: close');
});

test('a caller that leaves in the middle of its body harms nobody', async () => {
  await exchange((socket) => {
    socket.write(`POST /api/v1/checkout-sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${merchant.test}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"amount"`, () => socket.destroy());
  });
  expect((await merchant.api.get('/me')).status).toBe(200);
  expect(api.logs.filter((line) => line.includes('request failed'))).toEqual([]);
});

test('every answer has a request id and JSON, whatever was asked', async () => {
  const outside = createApiClient(api.url, merchant.test);
  for (const path of ['/api', '/api/v2/me', '/nothing', '/healthz', '/readyz', '/openapi.json']) {
    const answer = await outside.get(path);
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.body).toBeTypeOf('object');
  }
});

test('HEAD answers like GET, without a body', async () => {
  const text = await exchange((socket) => socket.write(`HEAD /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${merchant.test}\r\nConnection: close\r\n\r\n`));
  expect(text).toMatch(/^HTTP\/1.1 200 OK/);
  expect(text.split('\r\n\r\n')[1]).toBe('');
});

test('2,000 idle connections hold nobody up', async () => {
  const idle = await Promise.all(
    Array.from({ length: 2_000 }, () => new Promise<Socket>((resolve, reject) => {
      const socket = connect(api.port, '127.0.0.1', () => resolve(socket)).on('error', reject);
    })),
  );
  const begun = performance.now();
  expect((await merchant.api.get('/me')).status).toBe(200);
  expect(performance.now() - begun).toBeLessThan(2_000);
  for (const socket of idle) socket.destroy();
});

test('readiness names the part that fails or hangs, liveness does not care', async () => {
  const outside = createApiClient(api.url, merchant.test);
  expect((await outside.get('/readyz')).body).toMatchObject({ status: 'ready', checks: { postgres: 'ok' } });
  const broken = await startApi({}, [
    { name: 'temporal', check: async () => { throw new Error('secret address'); } },
    { name: 'workers', check: () => new Promise(() => undefined) },
  ]);
  const client = createApiClient(broken.url, '');
  const answer = await client.get('/readyz');
  expect([answer.status, answer.body]).toEqual([503, { status: 'not_ready', checks: { postgres: 'ok', temporal: 'failing', workers: 'timeout' }, warnings: [] }]);
  expect((await client.get('/healthz')).body).toEqual({ status: 'ok' });
  await broken.stop();
});

test('a private peer that forwards without being trusted is told to the operator', async () => {
  const outside = createApiClient(api.url, merchant.test);
  await merchant.api.get('/me', { key: null, headers: { 'x-forwarded-for': '203.0.113.9' } });
  expect((await outside.get<{ warnings: string[] }>('/readyz')).body.warnings[0]).toContain('TRUSTED_PROXIES');
  expect(api.logs.some((line) => line.includes('TRUSTED_PROXIES'))).toBe(true);
});

test('a trusted proxy speaks for its clients, each with a budget of its own', async () => {
  const behind = await startApi({ trustedProxies: ['127.0.0.0/8'] });
  const client = createApiClient(`${behind.url}/api/v1`, '');
  const from = (forwarded: string) => client.get('/me', { key: null, headers: { 'x-forwarded-for': forwarded } });
  await Promise.all(Array.from({ length: 300 }, () => from('203.0.113.9')));
  expect((await from('203.0.113.9')).status).toBe(429);
  // What the client itself claims stands left of what the proxy saw.
  expect((await from('198.51.100.1, 203.0.113.9')).status).toBe(429);
  expect((await from('203.0.113.9, 198.51.100.1')).status).toBe(401);
  await behind.stop();
});

test('metrics are shown to this machine alone and name routes, not ids', async () => {
  const outside = createApiClient(api.url, merchant.test);
  await merchant.api.get('/checkout-sessions/cs_00000000000000000000000000');
  const metrics = await outside.get('/metrics', { key: null });
  expect(metrics.text).toContain('http_request_duration_seconds_count{method="GET",route="/checkout-sessions/{id}",status="404"}');
  expect(metrics.text).not.toContain('cs_0000');
  expect((await outside.get('/metrics', { key: null, headers: { 'x-forwarded-for': '203.0.113.9' } })).status).toBe(404);
});

test('when Postgres is away the answer is a clean 503, and it recovers by itself', async () => {
  const own = await startApi();
  const caller = await own.addMerchant();
  expect((await caller.api.get('/me')).status).toBe(200);
  await own.sql(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`);
  await eventually(async () => expect((await caller.api.get('/me')).status).toBe(200));
  const answers = await Promise.all(Array.from({ length: 20 }, async (_, i) => {
    if (i === 5) await own.sql(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`);
    return caller.api.get('/me');
  }));
  for (const answer of answers.filter((one) => one.status !== 200)) {
    expect([answer.status, answer.body['code'], answer.headers['retry-after']]).toEqual([503, 'service_unavailable', '1']);
  }
  await own.stop();
});
