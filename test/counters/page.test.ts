// What a customer's browser loads for the pay page: HTML, style sheet and script as they travel.
import { brotliDecompressSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startStack, type Stack } from '../support/stack.ts';
import { page } from './budgets.ts';
import { createCheckout } from './checkout.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

async function load(url: string): Promise<Buffer> {
  const answer = await request(url, { headers: { 'accept-encoding': 'br', accept: '*/*' } });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-encoding']).toBe('br');
  return Buffer.from(await answer.body.arrayBuffer());
}

it('the pay page with its style sheet and script is under 30 KB compressed', async () => {
  const { url } = await createCheckout(stack, 'looked at');
  const document = await load(url);
  const html = brotliDecompressSync(document).toString('utf8');
  const assets = [...new Set([...html.matchAll(/"(\/assets\/[^"]+\.(?:css|js))"/g)].map((match) => String(match[1])))];
  expect(assets.map((path) => path.split('/').at(-1)).toSorted()).toEqual(expect.arrayContaining(['checkout.css', 'checkout.js']));
  const sizes = await Promise.all(assets.map(async (path) => (await load(stack.url + path)).length));
  const total = document.length + sizes.reduce((sum, size) => sum + size, 0);
  expect(total, `HTML ${document.length}, ${assets.map((path, index) => `${path} ${sizes[index]}`).join(', ')}`).toBeLessThan(page.bytes);
});
