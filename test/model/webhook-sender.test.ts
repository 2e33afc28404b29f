// The sender against real receivers on loopback and a real Postgres: what is sent, what is recorded, how misbehaving
// receivers are bounded, and what is handed to workflows.
import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Webhook } from 'standardwebhooks';
import type { Scope } from '../../domain/mode.ts';
import type { Database } from '../../models/database.ts';
import type { WaitingDelivery } from '../../models/delivery.ts';
import { findEndpoint } from '../../models/webhook-endpoint.ts';
import { createWebhookSender, type WebhookSender } from '../../webhooks/sender.ts';
import { isSignatureValid } from '../../webhooks/signature.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { aMerchant, anEndpoint, anEvent, deliveryOf, emit, openTestDatabase, testKeyRing } from '../support/webhooks.ts';

let database: TestDatabase;
let db: Database;
let scope: Scope;
let receiver: Receiver;
let sender: WebhookSender;
let started: WaitingDelivery[];
let startFails: boolean;
const logged: unknown[] = [];
const log = { warn: (...line: unknown[]) => void logged.push(line), error: (...line: unknown[]) => void logged.push(line) } as never;

beforeAll(async () => {
  database = await createDatabase();
  db = openTestDatabase(database.url);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
beforeEach(async () => {
  scope = await aMerchant(db);
  receiver = await startReceiver();
  started = [];
  startFails = false;
  sender = createWebhookSender({
    db,
    keyRing: testKeyRing,
    allowLoopback: true,
    log,
    startDelivery: async (input) => {
      if (startFails) throw new Error('Temporal is away');
      started.push(input);
    },
  });
});
afterEach(async () => {
  await sender.close();
  await receiver.stop();
  for (const server of servers.splice(0)) await server.stop();
});

interface Stoppable {
  readonly url: string;
  stop(): Promise<void>;
}
const servers: Stoppable[] = [];

async function listening(server: Server | TcpServer): Promise<Stoppable> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stoppable: Stoppable = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  servers.push(stoppable);
  return stoppable;
}

async function sendOne(url: string) {
  const endpoint = await anEndpoint(db, scope, { url });
  const event = anEvent(scope);
  const beganAt = performance.now();
  sender.offer((await emit(db, scope, [event])).filter((delivery) => delivery.endpointId === endpoint.row.id));
  await sender.idle();
  const tookMs = performance.now() - beganAt;
  const [row] = await database.query<{ id: string; status: string; attempt_count: number; due_at: Date | null }>('select * from deliveries where event_id = $1 and endpoint_id = $2', [event.id, endpoint.row.id]);
  const attempts = await database.query<{ n: number; status_code: number | null; response_body: string | null; response_headers: Record<string, string> | null; error: string | null; error_stage: string | null; duration_ms: number }>(
    'select * from delivery_attempts where delivery_id = $1 order by n',
    [row!.id],
  );
  return { endpoint, event, row: row!, attempt: attempts[0]!, attempts, tookMs };
}

describe('a receiver that answers', () => {
  test('2xx has the event, signed in both schemes, over exactly the stored bytes', async () => {
    receiver.behave({ status: 201, headers: { 'x-note': 'hello', 'set-cookie': 'session=secret' }, body: 'thank you' });
    const { endpoint, event, row, attempt } = await sendOne(receiver.url);
    const [delivery] = receiver.deliveries;
    expect(delivery!.raw.toString()).toBe(event.body);
    const headers = delivery!.headers as Record<string, string>;
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-svc-event': 'payment.completed', 'x-svc-event-id': event.id, 'x-svc-delivery-attempt': '1', 'webhook-id': event.id });
    expect(isSignatureValid({ secret: endpoint.secret, timestamp: headers['x-svc-timestamp']!, signature: headers['x-svc-signature']!, body: delivery!.raw, now: new Date() })).toBe(true);
    expect(new Webhook(endpoint.secret).verify(delivery!.raw.toString(), headers)).toMatchObject({ id: event.id, version: 3 });
    expect(row.status).toBe('delivered');
    expect(attempt).toMatchObject({ n: 1, status_code: 201, response_body: 'thank you', error: null });
    expect(attempt.response_headers).toMatchObject({ 'x-note': 'hello', 'set-cookie': '[not kept]' });
    expect(started).toEqual([]);
  });

  test('500 gets a workflow for the second attempt after about five seconds', async () => {
    receiver.behave({ status: 500, body: 'oops' });
    const { row, attempt } = await sendOne(receiver.url);
    expect(row).toMatchObject({ status: 'retrying', attempt_count: 1 });
    expect(attempt).toMatchObject({ status_code: 500, response_body: 'oops', error: 'the receiver answered 500' });
    expect(started).toMatchObject([{ deliveryId: row.id, round: 1 }]);
    const waitMs = started[0]!.nextAttemptAtMs - Date.now();
    expect(waitMs).toBeGreaterThan(4000);
    expect(waitMs).toBeLessThan(5600);
    const noted = await database.query<{ workflow_started_at: Date | null }>('select workflow_started_at from deliveries where id = $1', [row.id]);
    expect(noted[0]!.workflow_started_at).not.toBeNull();
  });

  test('a retry whose workflow cannot be started is left to the sweep', async () => {
    startFails = true;
    receiver.behave({ status: 500 });
    const { row } = await sendOne(receiver.url);
    expect(row).toMatchObject({ status: 'retrying', workflow_started_at: null });
  });

  test('Retry-After is honoured, in seconds, and at most for a day', async () => {
    receiver.behave({ status: 503, headers: { 'retry-after': '120' } });
    await sendOne(receiver.url);
    receiver.behave({ status: 503, headers: { 'retry-after': '999999' } });
    await sendOne(receiver.url);
    const [two, day] = started.map((input) => input.nextAttemptAtMs - Date.now());
    expect(two! / 1000).toBeCloseTo(120, -1);
    expect(day! / 3_600_000).toBeCloseTo(24, 0);
  });

  test('302 is a failure and is not followed', async () => {
    receiver.behave((delivery) => (delivery.path === '/elsewhere' ? { status: 200 } : { status: 302, headers: { location: '/elsewhere' } }));
    const { row, attempt } = await sendOne(receiver.url);
    expect(row.status).toBe('retrying');
    expect(attempt.status_code).toBe(302);
    expect(receiver.deliveries).toHaveLength(1);
  });

  test('410 ends the endpoint', async () => {
    receiver.behave({ status: 410 });
    const { endpoint, row } = await sendOne(receiver.url);
    expect(row.status).toBe('failed');
    expect(await findEndpoint(db.knex, scope, endpoint.row.id)).toMatchObject({ enabled: false, disabledReason: 'gone' });
    expect(started).toEqual([]);
  });

  test('keeps 10 KB of what it says, without secrets, NUL or broken text', async () => {
    const echo = `whsec_${'A'.repeat(43)}= svc_test_${'b'.repeat(32)} \0 `;
    receiver.behave({ status: 200, body: Buffer.concat([Buffer.from(echo), Buffer.from([0xff, 0xfe]), Buffer.alloc(20_000, 'x')]) });
    const { attempt } = await sendOne(receiver.url);
    expect(attempt.response_body).not.toContain('AAAA');
    expect(attempt.response_body).not.toContain('bbbb');
    expect(attempt.response_body!.length).toBeLessThanOrEqual(10_240);
    expect(attempt.response_body).toContain('xxxx');
  });
});

describe('a receiver that misbehaves', () => {
  test('by refusing connections costs one quick attempt', async () => {
    const closed = await startReceiver();
    await closed.stop();
    const { row, attempt, tookMs } = await sendOne(closed.url);
    expect(row.status).toBe('retrying');
    expect(attempt).toMatchObject({ status_code: null, error_stage: 'connect' });
    expect(tookMs).toBeLessThan(2000);
  });

  test('by never answering is cut off in time', async () => {
    receiver.behave('hang');
    const { row, attempt, tookMs } = await sendOne(receiver.url);
    expect(row.status).toBe('retrying');
    expect(attempt).toMatchObject({ status_code: null, error_stage: 'answer' });
    expect(tookMs).toBeLessThan(6000);
  });

  test('by resetting the connection is a failure', async () => {
    receiver.behave('reset');
    const { row, attempt } = await sendOne(receiver.url);
    expect(row.status).toBe('retrying');
    expect(attempt).toMatchObject({ status_code: null, error_stage: 'answer' });
  });

  test('by dripping header bytes is cut off in time', async () => {
    const { url } = await listening(
      createTcpServer((socket) => {
        const text = 'HTTP/1.1 200 OK\r\nx-slow: aaaaaaaaaaaaaaaaaaaaaaaaaaa';
        let i = 0;
        const drip = setInterval(() => socket.write(text[i++ % text.length]!), 200);
        socket.on('close', () => clearInterval(drip));
      }),
    );
    const { row, attempt, tookMs } = await sendOne(url);
    expect(row.status).toBe('retrying');
    expect(attempt.status_code).toBeNull();
    expect(tookMs).toBeLessThan(6000);
  });

  test('by dripping its body has the event, and is cut off in time', async () => {
    const { url } = await listening(
      createServer((_, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        const drip = setInterval(() => response.write('x'), 200);
        response.on('close', () => clearInterval(drip));
      }),
    );
    const { endpoint, row, attempt, tookMs } = await sendOne(url);
    expect(row.status).toBe('delivered');
    expect(attempt).toMatchObject({ status_code: 200, error_stage: 'body' });
    expect(tookMs).toBeLessThan(6000);
    expect(await findEndpoint(db.knex, scope, endpoint.row.id)).toMatchObject({ slow: true });
  });

  test.each([
    ['a body of 100 MB', { 'content-length': String(100 * 1024 * 1024) }],
    ['endless chunks', {}],
  ])('by sending %s is read 64 KiB far and no further', async (_, headers) => {
    let sent = 0;
    const { url } = await listening(
      createServer((__, response) => {
        response.writeHead(500, headers);
        const chunk = Buffer.alloc(16 * 1024, 'x');
        const more = (): void => {
          while (!response.destroyed && sent < 100 * 1024 * 1024) {
            sent += chunk.length;
            if (!response.write(chunk)) return void response.once('drain', more);
          }
        };
        more();
      }),
    );
    const memoryBefore = process.memoryUsage().rss;
    const { row, attempt, tookMs } = await sendOne(url);
    expect(row.status).toBe('retrying');
    expect(attempt.response_body).toHaveLength(10_240);
    expect(attempt.error_stage).toBe('body');
    expect(tookMs).toBeLessThan(2000);
    // What the sockets' buffers swallowed on both sides included.
    expect(sent).toBeLessThan(20 * 1024 * 1024);
    expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(50 * 1024 * 1024);
  });

  test('by sending a gzip bomb sees it unopened', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    receiver.behave({ status: 200, headers: { 'content-encoding': 'gzip' }, body: bomb });
    const { attempt } = await sendOne(receiver.url);
    expect(attempt.response_body).toBe('[an encoded answer is not kept]');
  });

  test('by sending huge headers is a failure', async () => {
    receiver.behave({ status: 200, headers: { 'x-big': 'y'.repeat(15_000), 'x-more': 'y'.repeat(15_000) } });
    const { row, attempt } = await sendOne(receiver.url);
    expect(row.status).toBe('retrying');
    expect(attempt.status_code).toBeNull();
  });

  test('by upgrading the connection is a failure', async () => {
    const { url } = await listening(createTcpServer((socket) => socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'))));
    const { row } = await sendOne(url);
    expect(row.status).toBe('retrying');
  });
});

describe('pace', () => {
  test('events of one resource arrive in order, the next as soon as the one before is over', async () => {
    await anEndpoint(db, scope, { url: receiver.url });
    const first = anEvent(scope);
    const rest = [2, 3, 4, 5].map((sequence) => anEvent(scope, { resourceId: first.resourceId, sequence }));
    sender.offer(await emit(db, scope, [first, ...rest]));
    const got = await receiver.received('payment.completed', { count: 5, withinMs: 5000 });
    expect(got.map((delivery) => delivery.body!['sequence'])).toEqual([1, 2, 3, 4, 5]);
    await sender.idle();
  });

  test('an event that was held back by one just delivered goes out within a second', async () => {
    await anEndpoint(db, scope, { url: receiver.url });
    const first = anEvent(scope);
    const second = anEvent(scope, { resourceId: first.resourceId, sequence: 2 });
    const [one, two] = await emit(db, scope, [first, second]);
    // As if the first one's mark had not seen the second: it is over, and nobody has freed the second.
    await db.knex('deliveries').where({ id: one!.id }).update({ status: 'delivered' });
    sender.offer([two!]);
    await receiver.received((delivery) => delivery.body!['sequence'] === 2, { withinMs: 1500 });
    await sender.idle();
    expect((await deliveryOf(db, second.id)).status).toBe('delivered');
  });

  test('an endpoint never sees more than four at once', async () => {
    let open = 0;
    let most = 0;
    const { url } = await listening(
      createServer((_, response) => {
        most = Math.max(most, ++open);
        setTimeout(() => {
          open -= 1;
          response.end();
        }, 20);
      }),
    );
    await anEndpoint(db, scope, { url });
    sender.offer(await emit(db, scope, Array.from({ length: 60 }, () => anEvent(scope))));
    await sender.idle();
    expect(most).toBe(4);
    const [{ count } = { count: 0 }] = await database.query<{ count: number }>("select count(*)::int as count from deliveries where merchant_id = $1 and status = 'delivered'", [scope.merchantId]);
    expect(count).toBe(60);
  });

  test('twenty hanging receivers do not hold up two hundred healthy ones', async () => {
    const hanging = await listening(createServer(() => undefined));
    const hangingScope = await aMerchant(db);
    for (let i = 0; i < 20; i++) await anEndpoint(db, hangingScope, { url: `${hanging.url}${i}` });
    const healthyScope = await aMerchant(db);
    for (let i = 0; i < 200; i++) await anEndpoint(db, healthyScope, { url: `${receiver.url}/${i}` });
    const stuck = [await emit(db, hangingScope, [anEvent(hangingScope)]), await emit(db, hangingScope, [anEvent(hangingScope)])].flat();
    const healthy = await emit(db, healthyScope, [anEvent(healthyScope)]);
    const beganAt = Date.now();
    sender.offer(stuck);
    sender.offer(healthy);
    await receiver.received('payment.completed', { count: 200, withinMs: 4000 });
    expect(Date.now() - beganAt).toBeLessThan(2000);
    await sender.idle();
    expect(started).toHaveLength(40);
  });

  test('closing gives back what is queued and lets the rest end', async () => {
    receiver.behave({ status: 200, afterMs: 300 });
    await anEndpoint(db, scope, { url: receiver.url });
    sender.offer(await emit(db, scope, Array.from({ length: 30 }, () => anEvent(scope))));
    await receiver.received('payment.completed', { count: 1 });
    await sender.close();
    const rows = await database.query<{ status: string; count: number }>('select status, count(*)::int as count from deliveries where merchant_id = $1 group by status order by status', [scope.merchantId]);
    expect(rows.map((row) => row.status)).toEqual(['delivered', 'retrying']);
    expect(rows.reduce((sum, row) => sum + row.count, 0)).toBe(30);
    expect(started.length).toBe(rows[1]!.count);
  });
});

describe('addresses', () => {
  test('a live endpoint on loopback is refused at connect', async () => {
    scope = await aMerchant(db, 'live');
    const { row, attempt } = await sendOne(receiver.url);
    expect(row.status).toBe('retrying');
    expect(attempt).toMatchObject({ status_code: null, error_stage: 'address' });
    expect(receiver.deliveries).toEqual([]);
  });

  test('an endpoint whose secret cannot be opened is not sent to unsigned', async () => {
    const { row } = await anEndpoint(db, scope, { url: receiver.url });
    await db.knex('webhook_endpoints').where({ id: row.id }).update({ sealed_secret: 's1.00000000.AAAA' });
    const event = anEvent(scope);
    sender.offer(await emit(db, scope, [event]));
    await sender.idle();
    expect(await deliveryOf(db, event.id)).toMatchObject({ status: 'retrying' });
    await eventually(() => expect(receiver.deliveries).toEqual([]));
  });
});
