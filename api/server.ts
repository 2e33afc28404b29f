// The HTTP server under the application: time limits, what the parser refuses, and stopping without dropping anybody.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type Koa from 'koa';
import { DomainError, type ErrorCode, errorCatalogue } from '../domain/errors.ts';
import type { Log } from '../platform/log.ts';
import { presentError } from '../presenters/error.ts';

export interface HttpOptions {
  readonly app: Koa;
  /** 0 takes any free one. */
  readonly port: number;
  /** All interfaces when absent. */
  readonly host?: string;
  readonly log: Log;
  readonly newRequestId: () => string;
  /** Milliseconds that requests under way may take to finish at shutdown. */
  readonly drainMs?: number;
}

export interface RunningHttp {
  readonly port: number;
  readonly server: Server;
  /** Stops listening, lets requests finish, then closes what is left. */
  close(): Promise<void>;
}

const headersTimeoutMs = 10_000;
const requestTimeoutMs = 30_000;
/** Longer than the minute most load balancers keep an idle connection, so that they never send into a closing one. */
const keepAliveTimeoutMs = 75_000;
const timeoutCheckMs = 1_000;

/** @throws Error with code EADDRINUSE when the port is taken */
export async function startHttp(options: HttpOptions): Promise<RunningHttp> {
  const server = createServer(
    { headersTimeout: headersTimeoutMs, requestTimeout: requestTimeoutMs, keepAliveTimeout: keepAliveTimeoutMs, connectionsCheckingInterval: timeoutCheckMs, maxHeaderSize: 16 * 1024, requireHostHeader: false },
    refuseHostless(options.app.callback(), options.newRequestId),
  );
  attachToServer(server, options.newRequestId);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, 1024, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', (error) => options.log.error({ err: error }, 'http server'));
  return { port: (server.address() as AddressInfo).port, server, close: () => drain(server, options.drainMs ?? 10_000) };
}

/** Node would refuse a request without Host (RFC 9112, section 3.2) with an empty body. */
function refuseHostless(listener: RequestListener, newRequestId: () => string): RequestListener {
  return (request, response) => (request.headers.host === undefined && request.httpVersion !== '1.0' ? refuse(response, newRequestId()) : listener(request, response));
}

function refuse(response: ServerResponse, requestId: string): void {
  const body = JSON.stringify(presentError(new DomainError(...malformed), requestId));
  response.writeHead(400, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(body), 'X-Request-Id': requestId, 'Cache-Control': 'no-store', Connection: 'close' });
  response.end(body);
}

/** Answers what never became a request in the same JSON as everything else. */
export function attachToServer(server: Server, newRequestId: () => string): void {
  // The only expectation there is, 100-continue, never comes here.
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => refuse(response, newRequestId()));
  server.on('clientError', (error: Error & { code?: string }, socket: Socket & { _httpMessage?: { headersSent: boolean } | null }) => {
    // An answer that has begun cannot be replaced by another.
    if (!socket.writable || error.code === 'ECONNRESET' || socket._httpMessage?.headersSent === true) {
      socket.destroy();
      return;
    }
    const [code, message] = refusals[error.code ?? ''] ?? malformed;
    const requestId = newRequestId();
    const body = JSON.stringify(presentError(new DomainError(code, message), requestId));
    const { status } = errorCatalogue[code];
    socket.end(
      [
        `HTTP/1.1 ${status} ${reasons[status] ?? 'Bad Request'}`,
        'Content-Type: application/json; charset=utf-8',
        `Content-Length: ${Buffer.byteLength(body)}`,
        `X-Request-Id: ${requestId}`,
        'Cache-Control: no-store',
        'Connection: close',
        '',
        body,
      ].join('\r\n'),
    );
  });
}

const malformed = ['malformed_request', 'The request is not valid HTTP.'] as const;
const refusals: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers of the request are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['malformed_request', 'The request is not valid HTTP.'],
};
const reasons: Readonly<Record<number, string>> = { 400: 'Bad Request', 408: 'Request Timeout', 431: 'Request Header Fields Too Large' };

async function drain(server: Server, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Connections become idle one by one, each after its answer.
  const sweep = setInterval(() => server.closeIdleConnections(), 100);
  const force = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(force);
}
