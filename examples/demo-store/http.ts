// The few things every answer of the store needs of HTTP.
import type { IncomingMessage, ServerResponse } from 'node:http';

export class BodyTooLarge extends Error {}
const bodyLimitBytes = 512 * 1024;

/** @returns the bytes as they came: a signature is over these and no others. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyLimitBytes) throw new BodyTooLarge('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** After a form: the browser fetches the next page with GET, so that a reload sends nothing twice. */
export function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { location, 'cache-control': 'no-store' }).end();
}

export function sendPage(response: ServerResponse, status: number, html: string): void {
  response.setHeader('content-security-policy', "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'");
  response.setHeader('cache-control', 'no-store');
  send(response, status, 'text/html; charset=utf-8', html);
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  send(response, status, 'text/plain; charset=utf-8', text);
}

export function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(body);
}
