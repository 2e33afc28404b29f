// The one HTTP call all gateway adapters make, against servers that misbehave on the wire: what was surely not sent is
// `unreached`, everything after that is `unknown`, and no answer is read without end.
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { Pool } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { callJson } from '../../gateways/http.ts';

const open: { server: Server; pool: Pool; sockets: Set<Socket> }[] = [];
afterEach(async () => {
  for (const { server, pool, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await pool.destroy();
    await new Promise((closed) => server.close(closed));
  }
});

/** A server that does `act` with each request it has begun to receive. */
async function listen(act: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const seen = { bytes: 0 };
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.on('data', (chunk) => {
      seen.bytes += chunk.length;
      act(socket);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pool = new Pool(origin);
  open.push({ server, pool, sockets });
  const call = (options: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
    callJson({ dispatcher: pool, origin, method: 'POST', path: '/charges', headers: {}, body: { amount: 1 }, timeoutMs: 2_000, ...options });
  return { call, seen };
}

const head = (status: string, more = '') => `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${more}\r\n`;
const whole = (status: string, body: string) => head(status, `content-length: ${body.length}\r\n`) + body;

test.each([
  ['a JSON object', whole('200 OK', '{"a":1}'), { kind: 'answered', status: 200, body: { a: 1 } }],
  ['a JSON error', whole('503 Busy', '{"charged":false}'), { kind: 'answered', status: 503, body: { charged: false } }],
  ['an array', whole('200 OK', '[1]'), { kind: 'unknown', reason: 'malformed_answer' }],
  ['half a JSON object', whole('200 OK', '{"a":'), { kind: 'unknown', reason: 'malformed_answer' }],
  ['nothing', whole('200 OK', ''), { kind: 'unknown', reason: 'malformed_answer' }],
  ['a page of a proxy', whole('502 Bad', '<html>'), { kind: 'unknown', reason: 'server_error' }],
  ['a redirect, which is not followed', whole('302 Found\r\nlocation: /elsewhere', ''), { kind: 'unknown', reason: 'malformed_answer' }],
  ['something that is not HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', { kind: 'unknown', reason: 'malformed_answer' }],
  ['headers beyond measure', head('200 OK', `x: ${'x'.repeat(100_000)}\r\n`), { kind: 'unknown', reason: 'malformed_answer' }],
])('%s is told as what it is', async (_what, bytes, expected) => {
  const { call } = await listen((socket) => socket.write(bytes));
  expect(await call()).toEqual(expected);
});

test('a reset before the answer is unknown', async () => {
  const { call, seen } = await listen((socket) => socket.resetAndDestroy());
  expect(await call()).toEqual({ kind: 'unknown', reason: 'connection_lost' });
  expect(seen.bytes).toBeGreaterThan(0);
});

test('a connection closed in the middle of the body is unknown', async () => {
  const { call } = await listen((socket) => socket.end(head('200 OK', 'content-length: 50\r\n') + '{"a"'));
  expect(await call()).toEqual({ kind: 'unknown', reason: 'connection_lost' });
});

test('a body that trickles ends with the timeout of the whole call', async () => {
  const { call } = await listen((socket) => {
    socket.write(head('200 OK', 'content-length: 5000\r\n'));
    const drip = setInterval(() => socket.write(' '), 20);
    socket.on('close', () => clearInterval(drip));
  });
  const startedAt = performance.now();
  expect(await call({ timeoutMs: 300 })).toEqual({ kind: 'unknown', reason: 'timeout' });
  expect(performance.now() - startedAt).toBeLessThan(1_500);
});

test('an answer without end is left after 64 KiB, not read', async () => {
  let written = 0;
  const { call } = await listen((socket) => {
    socket.write(head('200 OK', 'transfer-encoding: chunked\r\n'));
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
    const more = () => {
      while (!socket.destroyed && socket.write(chunk)) written += chunk.length;
    };
    socket.on('drain', more);
    more();
  });
  expect(await call()).toEqual({ kind: 'unknown', reason: 'malformed_answer' });
  // What the kernel's buffers swallow, and no more.
  expect(written).toBeLessThan(20_000_000);
});

test('an interruption while waiting is unknown, one before sending is unreached', async () => {
  const interrupt = new AbortController();
  const { call, seen } = await listen(() => interrupt.abort());
  expect(await call({ signal: interrupt.signal })).toMatchObject({ kind: 'unknown' });
  const before = seen.bytes;
  expect(await call({ signal: interrupt.signal })).toEqual({ kind: 'unreached', reason: 'refused' });
  expect(seen.bytes).toBe(before);
});

test('a kept connection that the gateway closes under a new request is never told as not sent', async () => {
  let requests = 0;
  const { call } = await listen((socket) => {
    requests += 1;
    if (requests === 1) socket.write(whole('200 OK', '{"n":1}'));
    else socket.destroy();
  });
  expect(await call()).toMatchObject({ kind: 'answered' });
  expect(await call()).toMatchObject({ kind: 'unknown' });
});
