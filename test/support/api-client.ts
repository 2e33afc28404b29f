// A merchant's server as tests play it: one call a line, the answer whole.
import { request } from 'undici';

export interface ApiAnswer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  /** The JSON body; null when there is none. */
  readonly body: Body;
  readonly text: string;
}

export interface CallOptions {
  /** Another key than the client's; null sends none. */
  readonly key?: string | null;
  readonly idempotencyKey?: string;
  readonly headers?: Record<string, string>;
}

export interface ApiClient {
  get<Body = Record<string, unknown>>(path: string, options?: CallOptions): Promise<ApiAnswer<Body>>;
  post<Body = Record<string, unknown>>(path: string, body?: unknown, options?: CallOptions): Promise<ApiAnswer<Body>>;
  patch<Body = Record<string, unknown>>(path: string, body?: unknown, options?: CallOptions): Promise<ApiAnswer<Body>>;
  put<Body = Record<string, unknown>>(path: string, body?: unknown, options?: CallOptions): Promise<ApiAnswer<Body>>;
  delete<Body = Record<string, unknown>>(path: string, options?: CallOptions): Promise<ApiAnswer<Body>>;
  /** Any method; a string or buffer goes out as it is. */
  call<Body = Record<string, unknown>>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<ApiAnswer<Body>>;
}

/** @param base such as http://127.0.0.1:4000/api/v1; paths begin with a slash */
export function createApiClient(base: string, key: string): ApiClient {
  const call: ApiClient['call'] = async <Body>(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<ApiAnswer<Body>> => {
    const authorization = options.key === null ? {} : { authorization: `Bearer ${options.key ?? key}` };
    const raw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const answer = await request(base + path, {
      method: method as 'GET',
      headers: {
        ...authorization,
        ...(raw === undefined ? {} : { 'content-type': 'application/json' }),
        ...(options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey }),
        ...options.headers,
      },
      ...(raw === undefined ? {} : { body: raw }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, body: parsed<Body>(text), text };
  };
  return {
    call,
    get: (path, options) => call('GET', path, undefined, options),
    post: (path, body, options) => call('POST', path, body, options),
    patch: (path, body, options) => call('PATCH', path, body, options),
    put: (path, body, options) => call('PUT', path, body, options),
    delete: (path, options) => call('DELETE', path, undefined, options),
  };
}

function parsed<Body>(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return null as Body;
  }
}
