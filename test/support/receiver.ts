// A merchant's webhook receiver: records what came, byte for byte, and can be told to refuse, hang or break.
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { eventually } from './eventually.ts';

export interface Delivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The exact bytes, for signatures. */
  readonly raw: Buffer;
  /** The body as JSON; null when it is none. */
  readonly body: ReceivedEvent | null;
  /** UTC milliseconds. */
  readonly receivedAtMs: number;
}

export interface ReceivedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
  readonly [field: string]: unknown;
}

export type Behaviour =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string | Buffer; readonly afterMs?: number }
  /** Takes the request and never answers. */
  | 'hang'
  /** Breaks the connection after the request came. */
  | 'reset';

export interface Receiver {
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  /** From now on; a function decides for each delivery. */
  behave(behaviour: Behaviour | ((delivery: Delivery) => Behaviour)): void;
  /** Deliveries of one event name, in order of arrival. */
  of(event: string): Delivery[];
  /** Waits until `count` deliveries satisfy the filter and gives them. */
  received(filter: string | ((delivery: Delivery) => boolean), options?: { count?: number; withinMs?: number }): Promise<Delivery[]>;
  clear(): void;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  let deliveries: Delivery[] = [];
  let decide: (delivery: Delivery) => Behaviour = () => ({ status: 200 });
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const raw = Buffer.concat(chunks);
      const delivery: Delivery = { path: request.url ?? '/', headers: request.headers, raw, body: parsed(raw), receivedAtMs: Date.now() };
      deliveries.push(delivery);
      answer(response, decide(delivery));
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const of = (event: string): Delivery[] => deliveries.filter((delivery) => delivery.body?.event === event);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    get deliveries() {
      return deliveries;
    },
    behave(behaviour) {
      decide = typeof behaviour === 'function' ? behaviour : () => behaviour;
    },
    of,
    received(filter, options = {}) {
      const count = options.count ?? 1;
      return eventually(() => {
        const matching = typeof filter === 'string' ? of(filter) : deliveries.filter(filter);
        if (matching.length < count) throw new Error(`${matching.length} of ${count} deliveries came${typeof filter === 'string' ? ` of ${filter}` : ''}; in all: ${deliveries.map((one) => one.body?.event).join(', ')}`);
        return matching;
      }, options);
    },
    clear() {
      deliveries = [];
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function parsed(raw: Buffer): ReceivedEvent | null {
  try {
    return JSON.parse(raw.toString('utf8')) as ReceivedEvent;
  } catch {
    return null;
  }
}

function answer(response: ServerResponse, behaviour: Behaviour): void {
  if (behaviour === 'hang') return;
  if (behaviour === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  const send = (): void => {
    response.writeHead(behaviour.status, behaviour.headers);
    response.end(behaviour.body ?? '');
  };
  if (behaviour.afterMs === undefined) send();
  else setTimeout(send, behaviour.afterMs).unref();
}
