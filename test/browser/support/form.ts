// What a browser would post, without one: reads the hidden token of a page and sends its form.
import { request } from 'undici';
import type { FixtureServer } from './fixture-server.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export const goodCard = { number: '4242 4242 4242 4242', expiry: '12 / 30', cvc: '123', name: 'Ada Lovelace', email: 'ada@example.com' };

export async function get(server: FixtureServer, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return readAnswer(await request(server.url + path, { headers }));
}

export async function formTokenOf(server: FixtureServer, token: string): Promise<string> {
  return /name="form_token" value="([^"]+)"/.exec((await get(server, `/checkout/${token}`)).body)?.[1] ?? '';
}

/** @param fields beside the hidden token, which is taken from the page unless given */
export async function post(server: FixtureServer, token: string, action: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> {
  const body = new URLSearchParams({ form_token: await formTokenOf(server, token), ...fields }).toString();
  return readAnswer(await request(`${server.url}/checkout/${token}/${action}`, { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } }));
}

async function readAnswer(answer: Awaited<ReturnType<typeof request>>): Promise<Answer> {
  const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
  return { status: answer.statusCode, headers, body: await answer.body.text() };
}
