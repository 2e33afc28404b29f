// The wire under the `stripe` package: one request by undici, with the few headers an API call needs, and an honest word
// when it fails. It never repeats a request and never lets an answer through that is not Stripe's.
import type { Dispatcher } from 'undici';
import { classify } from '../http.ts';
import type { CallAnswer } from '../http.ts';

/** Why there is no answer: surely not sent, or unknown. */
export type Silence = Exclude<CallAnswer, { kind: 'answered' }>;

/** Carries no code, because the package sends a request again by itself when it sees ECONNRESET or EPIPE. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  readonly silence: Silence;
  constructor(silence: Silence) {
    super(silence.reason);
    this.silence = silence;
  }
}

/** A hundred charges in one list stay well below it; a longer answer is not read to its end. */
const answerLimitBytes = 2 * 1024 * 1024;

/**
 * The package would also tell its telemetry, the machine's platform and what started the process: those headers stay
 * here. Lower case.
 */
const headersToSend = new Set(['authorization', 'accept', 'content-type', 'stripe-version', 'idempotency-key']);

type Headers = Readonly<Record<string, string | number | string[]>>;

/** The package's `HttpClient`, for the calls of one `GatewayCall`. */
export class UndiciHttpClient {
  readonly #dispatcher: Dispatcher;
  readonly #signal: AbortSignal;

  /** @param signal ends every request: at the call's timeout, at shutdown */
  constructor(dispatcher: Dispatcher, signal: AbortSignal) {
    this.#dispatcher = dispatcher;
    this.#signal = signal;
  }

  getClientName(): string {
    return 'undici';
  }

  /** @throws TransportFailure */
  async makeRequest(host: string, port: string, path: string, method: string, headers: Headers, requestData: string, protocol: string): Promise<JsonResponse> {
    if (this.#signal.aborted) throw new TransportFailure({ kind: 'unreached', reason: 'refused' });
    try {
      const { statusCode, body } = await this.#dispatcher.request({
        origin: `${protocol}://${host}:${port}`,
        method: method as Dispatcher.HttpMethod,
        path,
        headers: { ...sendable(headers), 'user-agent': 'payment-checkout-service' },
        body: method === 'GET' ? null : requestData,
        signal: this.#signal,
      });
      return new JsonResponse(statusCode, readAnswer(statusCode, await readText(body)));
    } catch (error) {
      if (error instanceof TransportFailure) throw error;
      // No cause: whatever undici says may quote the request.
      throw new TransportFailure(silenceOf(classify(error, this.#signal.aborted)));
    }
  }
}

class JsonResponse {
  readonly #status: number;
  readonly #body: Record<string, unknown>;
  constructor(status: number, body: Record<string, unknown>) {
    this.#status = status;
    this.#body = body;
  }
  getStatusCode(): number {
    return this.#status;
  }
  /** None: the package writes notices of the server to stderr. */
  getHeaders(): Record<string, string> {
    return {};
  }
  getRawResponse(): object {
    return {};
  }
  toStream(): never {
    throw new TypeError('no streams');
  }
  async toJSON(): Promise<Record<string, unknown>> {
    return this.#body;
  }
}

function sendable(headers: Headers): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (headersToSend.has(name.toLowerCase()) && value !== '') chosen[name] = String(value);
  }
  return chosen;
}

/** The package takes any JSON without `error` for the thing asked for, a proxy's 502 page included: not here. */
function readAnswer(status: number, text: string | null): Record<string, unknown> {
  const body = text === null ? null : parseObject(text);
  const isAnswer = body !== null && (status < 300 ? body.error === undefined : status >= 400 && typeof body.error === 'object' && body.error !== null);
  if (!isAnswer) throw new TransportFailure({ kind: 'unknown', reason: status >= 500 ? 'server_error' : 'malformed_answer' });
  return body;
}

function silenceOf(answer: CallAnswer): Silence {
  return answer.kind === 'answered' ? { kind: 'unknown', reason: 'malformed_answer' } : answer;
}

async function readText(body: Dispatcher.ResponseData['body']): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > answerLimitBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
