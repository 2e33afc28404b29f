// One signed POST to a receiver and what came of it, as data: it never throws and never outlasts its timeout. Reads a
// bounded part of the answer, follows nothing and decompresses nothing.
import type { Agent, Dispatcher } from 'undici';
import { answerKeptBytes, answerReadLimitBytes } from '../domain/delivery-schedule.ts';
import type { Mode } from '../domain/mode.ts';
import { scrubText } from '../platform/scrub.ts';
import { createGuardedAgent } from './connector.ts';
import { createResolve, type Resolve, TargetNotAllowed } from './url-guard.ts';

/** Where an attempt stood when it went wrong: whose fault it is can be read off it. */
export type AttemptStage = 'signing' | 'address' | 'connect' | 'answer' | 'body';

export interface PostRequest {
  readonly url: string;
  readonly mode: Mode;
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly timeoutMs: number;
}

/** How an attempt ended. With a status code the receiver has spoken, whatever happened to the body after it. */
export interface PostResult {
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  /** At most 10 KB as text, known forms of secrets replaced. */
  readonly responseBody: string | null;
  readonly error: string | null;
  readonly errorStage: AttemptStage | null;
  /** The receiver's Retry-After in milliseconds, whatever its form. */
  readonly retryAfterMs: number | null;
}

export interface Poster {
  post(request: PostRequest): Promise<PostResult>;
  close(): Promise<void>;
}

export interface PosterOptions {
  readonly allowLoopback: boolean;
  readonly resolve?: Resolve;
}

const userAgent = 'payment-checkout-webhooks/1';

export function createPoster(options: PosterOptions): Poster {
  const resolve = options.resolve ?? createResolve();
  const guarded = createGuardedAgent({ allowLoopback: false, resolve });
  const agents: Record<Mode, Agent> = {
    live: guarded,
    test: options.allowLoopback ? createGuardedAgent({ allowLoopback: true, resolve }) : guarded,
  };
  return {
    post: (request) => new Promise((done) => new Attempt(request, agents[request.mode], done)),
    close: async () => {
      await Promise.all([...new Set(Object.values(agents))].map((agent) => agent.destroy()));
    },
  };
}

/** undici's handler of one request. Every way out goes through `finish`, once. */
class Attempt implements Dispatcher.DispatchHandler {
  readonly #done: (result: PostResult) => void;
  readonly #startedAt = new Date();
  readonly #startedMs = performance.now();
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #finished = false;
  #stage: AttemptStage = 'connect';
  #statusCode: number | null = null;
  #headers: Readonly<Record<string, string | string[] | undefined>> | null = null;
  #chunks: Buffer[] = [];
  #kept = 0;
  #read = 0;

  constructor(request: PostRequest, agent: Agent, done: (result: PostResult) => void) {
    this.#done = done;
    this.#timer = setTimeout(() => this.#stop(`no complete answer within ${request.timeoutMs} ms`), request.timeoutMs);
    try {
      const url = new URL(request.url);
      agent.dispatch({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers: [...request.headers, 'content-type', 'application/json', 'user-agent', userAgent, 'accept-encoding', 'identity'],
        body: request.body,
      }, this);
    } catch (error) {
      this.#finish(messageOf(error));
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The clock ran out while it was still connecting: nothing is sent any more.
    if (this.#finished) return controller.abort(new Error('attempt is over'));
    this.#stage = 'answer';
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number, headers: Record<string, string | string[] | undefined>): void {
    if (statusCode < 200) return;
    this.#statusCode = statusCode;
    this.#headers = headers;
    this.#stage = 'body';
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#finished) return;
    if (this.#kept < answerKeptBytes) {
      const part = chunk.subarray(0, answerKeptBytes - this.#kept);
      // A copy, because the chunk is a view of a much larger read buffer.
      this.#chunks.push(Buffer.from(part));
      this.#kept += part.length;
    }
    this.#read += chunk.length;
    if (this.#read >= answerReadLimitBytes) this.#stop(`the answer is longer than ${answerReadLimitBytes} bytes; the rest was not read`);
  }

  onResponseEnd(): void {
    this.#finish(null);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof TargetNotAllowed) this.#stage = 'address';
    this.#finish(messageOf(error));
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController): void {
    controller.abort(new Error('attempt is over'));
    this.#finish('the receiver answered with a protocol upgrade');
  }

  #stop(reason: string): void {
    this.#finish(reason);
    this.#controller?.abort(new Error('attempt is over'));
  }

  #finish(error: string | null): void {
    if (this.#finished) return;
    this.#finished = true;
    clearTimeout(this.#timer);
    this.#done({
      startedAt: this.#startedAt,
      durationMs: Math.round(performance.now() - this.#startedMs),
      statusCode: this.#statusCode,
      responseHeaders: this.#headers === null ? null : keptHeaders(this.#headers),
      responseBody: this.#headers === null ? null : keptBody(this.#chunks, this.#headers),
      error: error === null ? null : cleanText(error.slice(0, maxErrorLength)),
      errorStage: error === null ? null : this.#stage,
      retryAfterMs: this.#headers === null ? null : retryAfterMs(this.#headers['retry-after'], this.#startedAt),
    });
    this.#chunks = [];
  }
}

/** Retry-After as seconds or as an HTTP date (RFC 9110, 10.2.3); null when absent, past or unreadable. */
export function retryAfterMs(value: string | string[] | undefined, now: Date): number | null {
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  if (text === undefined || text === '') return null;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}

const maxHeadersKept = 50;
const maxHeaderLength = 1024;
const maxErrorLength = 500;

function keptHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const kept: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(headers).slice(0, maxHeadersKept)) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(', ') : value;
    kept[cleanText(name)] = name === 'set-cookie' ? '[not kept]' : cleanText(text.slice(0, maxHeaderLength));
  }
  return kept;
}

function keptBody(chunks: readonly Buffer[], headers: Readonly<Record<string, string | string[] | undefined>>): string {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') return '[an encoded answer is not kept]';
  return cleanText(Buffer.concat(chunks).toString('utf8'));
}

/** Postgres takes neither NUL nor lone surrogates in text; whole secrets a receiver echoes are replaced. */
function cleanText(text: string): string {
  return scrubText(text.replace(/\0|\p{Surrogate}/gu, '\uFFFD'));
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  // Several addresses that all refused arrive as one error without a message of its own.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return error.message === '' ? code || error.name : error.message;
}
