// The bench's own way of asking: kept-alive connections, the whole answer read, a wrong status is an error.
import { Pool } from 'undici';

export interface Asked {
  readonly status: number;
  readonly text: string;
  readonly headers: Record<string, string | string[] | undefined>;
}

export interface Http {
  get(path: string, headers?: Record<string, string>): Promise<Asked>;
  post(path: string, body: string, headers: Record<string, string>, expected: number): Promise<Asked>;
  close(): Promise<void>;
}

/** @param origin such as http://127.0.0.1:4000 */
export function openHttp(origin: string, connections = 64): Http {
  const pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: 60_000 });
  const ask = async (method: 'GET' | 'POST', path: string, headers: Record<string, string>, expected: number, body?: string): Promise<Asked> => {
    const answer = await pool.request({ path, method, headers, ...(body === undefined ? {} : { body }) });
    const text = await answer.body.text();
    if (answer.statusCode !== expected) throw new Error(`${method} ${path.split('/').slice(0, 4).join('/').slice(0, 40)} answered ${answer.statusCode}: ${text.slice(0, 120).replaceAll(/\s+/g, ' ')}`);
    return { status: answer.statusCode, text, headers: answer.headers };
  };
  return {
    get: (path, headers = {}) => ask('GET', path, headers, 200),
    post: (path, body, headers, expected) => ask('POST', path, headers, expected, body),
    close: () => pool.destroy(),
  };
}
