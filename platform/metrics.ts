// The numbers operators watch, in a registry of our own, and the small server that shows them. Knows no product rules:
// what is stuck is asked of the composition root. No label ever carries an id.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  /** @param route the row's path, `/checkout-sessions/{id}`, never the path that was asked for */
  request(route: string, method: string, status: number, durationMs: number): void;
  /** One more alert of a kind; the log line beside it says which. */
  alert(kind: string): void;
  /** Rows of the request log that found no room. */
  dropped(table: 'api_requests' | 'gateway_calls', count: number): void;
  /** Gateway calls by how they ended. */
  gatewayCall(gateway: string, kind: string, code: string, durationMs: number): void;
  /** Whether this process holds new charges back from a gateway that does not answer. */
  circuit(gateway: string, open: boolean): void;
  readonly registry: Registry;
}

export interface MetricsOptions {
  /** Counts of work that should have moved and has not, by kind; asked at each scrape. */
  readonly stuckWork?: () => Promise<Readonly<Record<string, number>>>;
}

export function createMetrics(options: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  });
  const gateways = new Histogram({
    name: 'gateway_call_duration_seconds',
    help: 'Time a payment gateway took, by how the call ended.',
    labelNames: ['gateway', 'kind', 'code'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30],
    registers,
  });
  const alerts = new Counter({ name: 'alerts_total', help: 'Things an operator has to look at.', labelNames: ['kind'], registers });
  const drops = new Counter({ name: 'call_log_dropped_total', help: 'Request log rows dropped because their buffer was full.', labelNames: ['table'], registers });
  const circuits = new Gauge({ name: 'gateway_circuit_open', help: '1 while new charges are held back from a gateway that does not answer.', labelNames: ['gateway'], registers });
  const { stuckWork } = options;
  if (stuckWork !== undefined) {
    new Gauge({
      name: 'stuck_work',
      help: 'Work that is due and has not moved, by kind.',
      labelNames: ['kind'],
      registers,
      async collect() {
        for (const [kind, count] of Object.entries(await stuckWork())) this.set({ kind }, count);
      },
    });
  }
  return {
    registry,
    request: (route, method, status, durationMs) => requests.observe({ method, route, status }, durationMs / 1000),
    gatewayCall: (gateway, kind, code, durationMs) => gateways.observe({ gateway, kind, code }, durationMs / 1000),
    alert: (kind) => alerts.inc({ kind }),
    circuit: (gateway, open) => circuits.set({ gateway }, open ? 1 : 0),
    dropped: (table, count) => drops.inc({ table }, count),
  };
}

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** GET /metrics in the Prometheus text format. @param at port 0 takes any free one; the host is loopback unless given */
export async function startMetricsServer(metrics: Metrics, at: { port: number; host?: string }): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host ?? '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
