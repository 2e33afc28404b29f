// A merchant's receiver that answers at once: counts each webhook once and remembers when it came.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface BenchReceiver {
  readonly url: string;
  /** By event id; UTC milliseconds of the first arrival. */
  readonly arrivals: ReadonlyMap<string, number>;
  /** Bodies of the floor's posts carry their own time of sending: latencies in milliseconds. */
  readonly floorLatenciesMs: readonly number[];
  clear(): void;
  /** Resolves when so many different webhooks have come. @throws Error after `withinMs` */
  until(count: number, withinMs: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startBenchReceiver(): Promise<BenchReceiver> {
  const arrivals = new Map<string, number>();
  let floorLatenciesMs: number[] = [];
  let wake: (() => void) | null = null;
  const server = createServer((request, response) => {
    const atMs = Date.now();
    const id = String(request.headers['webhook-id']);
    const isFloor = request.url === '/floor';
    let body = '';
    request.on('data', (chunk: Buffer) => {
      if (isFloor) body += chunk.toString();
    });
    request.on('end', () => {
      response.writeHead(200).end();
      if (isFloor) floorLatenciesMs.push(atMs - (JSON.parse(body) as { sent_at_ms: number }).sent_at_ms);
      if (!arrivals.has(id)) arrivals.set(id, atMs);
      wake?.();
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    arrivals,
    get floorLatenciesMs() {
      return floorLatenciesMs;
    },
    clear() {
      arrivals.clear();
      floorLatenciesMs = [];
    },
    async until(count, withinMs) {
      const deadline = performance.now() + withinMs;
      while (arrivals.size < count) {
        if (performance.now() > deadline) throw new Error(`${arrivals.size} of ${count} webhooks came within ${withinMs} ms`);
        await Promise.race([new Promise<void>((resolve) => (wake = resolve)), pause(200)]);
      }
      wake = null;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}
