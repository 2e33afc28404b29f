// One HTTP call to a gateway, JSON in and out, and what can honestly be said when it fails: surely not sent, or
// unknown. It never repeats a call, follows no redirect and puts nothing that was sent into an error.
import { errors } from 'undici';
import type { Dispatcher } from 'undici';

export type CallAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  /** Surely not sent. */
  | { readonly kind: 'unreached'; readonly reason: 'connection_refused' | 'refused' }
  /** It may have been sent, and may have had its effect. */
  | { readonly kind: 'unknown'; readonly reason: 'timeout' | 'connection_lost' | 'malformed_answer' | 'server_error' };

export interface JsonCall {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** For the whole call: connection, headers and body. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** No answer of a gateway is near this; a longer one is not read to its end. */
const answerLimitBytes = 64 * 1024;

/** Never throws for anything the network or the gateway does. */
export async function callJson(call: JsonCall): Promise<CallAnswer> {
  if (call.signal?.aborted === true) return { kind: 'unreached', reason: 'refused' };
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, call.timeoutMs);
  call.signal?.addEventListener('abort', end, { once: true });
  try {
    const { statusCode, body } = await call.dispatcher.request({
      origin: call.origin,
      method: call.method,
      path: call.path,
      headers: call.body === undefined ? call.headers : { ...call.headers, 'content-type': 'application/json' },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal: ending.signal,
    });
    return readAnswer(statusCode, await readText(body));
  } catch (error) {
    return classify(error, ending.signal.aborted);
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', end);
  }
}

/** The text of an answer, or null when it is too long. */
async function readText(body: Dispatcher.ResponseData['body']): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Leaving the loop destroys the stream and its connection.
    if (size > answerLimitBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function readAnswer(status: number, text: string | null): CallAnswer {
  const body = text === null ? null : parseObject(text);
  if (body !== null) return { kind: 'answered', status, body };
  return { kind: 'unknown', reason: status >= 500 ? 'server_error' : 'malformed_answer' };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** @param ended whether the call was ended by us, by its timeout or at shutdown */
export function classify(error: unknown, ended: boolean): CallAnswer {
  if (failedToConnect(error)) return { kind: 'unreached', reason: 'connection_refused' };
  if (ended || error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) return { kind: 'unknown', reason: 'timeout' };
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError || error instanceof errors.ResponseContentLengthMismatchError) {
    return { kind: 'unknown', reason: 'malformed_answer' };
  }
  // A kept connection that the gateway closed as the request left counts here too: it cannot be told from one that
  // was lost after the charge.
  return { kind: 'unknown', reason: 'connection_lost' };
}

/** Only what fails while connecting or resolving the name: a reset on an open connection may come after the effect. */
function failedToConnect(error: unknown): boolean {
  if (error instanceof errors.ConnectTimeoutError) return true;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(failedToConnect);
  const syscall = error instanceof Error ? (error as NodeJS.ErrnoException).syscall : undefined;
  return syscall === 'connect' || syscall === 'getaddrinfo';
}
