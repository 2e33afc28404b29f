// The checkout's HTTP answers over a fixture door: statuses, headers, what a refused form gives back. No browser.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Readable } from 'node:stream';
import { brotliDecompressSync } from 'node:zlib';
import { request } from 'undici';
import { DomainError } from '../../domain/errors.ts';
import { fixtureStates, fixtureView } from './support/fixture-checkout.ts';
import type { FixtureServer } from './support/fixture-server.ts';
import { startFixtureServer } from './support/fixture-server.ts';
import { formTokenOf, get, goodCard, post } from './support/form.ts';

let server: FixtureServer;
beforeAll(async () => {
  server = await startFixtureServer({ https: true });
});
afterAll(() => server.close());
beforeEach(() => {
  server.door.payments.length = 0;
  server.door.results.length = 0;
});

describe('a checkout page', () => {
  it.each(Object.keys(fixtureStates))('answers 200 in state %s', async (state) => {
    const answer = await get(server, `/checkout/${state}`);
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' } });
  });

  it('is a plain 404 for an address that is no session', async () => {
    const pages = await Promise.all(['nowhere', 'payable.x', 'payable%00', 'payable/what', '__proto__', '%F0%9F%92%A9'].map((token) => get(server, `/checkout/${token}`)));
    for (const page of pages) expect(page).toMatchObject({ status: 404, body: pages[0]?.body });
    expect((await post(server, 'nowhere', 'pay', goodCard)).status).toBe(404);
  });

  it('lets nothing in, out or stay', async () => {
    const { headers } = await get(server, '/checkout/many');
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' https://images.example; form-action 'self' https: http:; frame-ancestors 'none'; base-uri 'none'",
    );
    expect((await get(server, '/checkout/live')).headers['content-security-policy']).toContain("form-action 'self' https:;");
    expect(headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
      'strict-transport-security': 'max-age=31536000',
    });
  });

  it('holds nothing inline', async () => {
    for (const state of Object.keys(fixtureStates)) {
      const { body } = await get(server, `/checkout/${state}`);
      expect(body).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]* src=)/);
    }
  });

  it('offers cancel only where there is somewhere to go', async () => {
    expect((await get(server, '/checkout/payable')).body).toContain('/checkout/payable/cancel');
    expect((await get(server, '/checkout/live')).body).not.toContain('/checkout/live/cancel');
  });

  it('shows test cards in test mode alone', async () => {
    expect((await get(server, '/checkout/payable')).body).toContain('4242 4242 4242 4242');
    expect((await get(server, '/checkout/live')).body).not.toContain('4242');
  });

  it('tells a lost, a stolen and a suspected card as a plain decline', async () => {
    const told = [];
    for (const declineCode of ['generic_decline', 'lost_card', 'stolen_card', 'fraudulent']) {
      server.door.views.set('decline', { ...fixtureView, token: 'decline', phase: 'failed', status: 'failed', failure: { declineCode } });
      told.push((await get(server, '/checkout/decline')).body);
    }
    expect(new Set(told).size).toBe(1);
    expect(told[0]).not.toMatch(/lost|stolen|fraud/i);
  });

  it('polls by a small answer', async () => {
    expect(await get(server, '/checkout/processing/status')).toMatchObject({ status: 200, body: '{"phase":"processing"}', headers: { 'cache-control': 'no-store' } });
  });

  it('leads on from the bank: to the shop when it is over, to its page when not', async () => {
    const to = async (state: string) => (await get(server, `/checkout/${state}/return`)).headers['location'];
    expect(await to('completed')).toBe(`https://shop.example/thanks?order=7&session_id=${fixtureView.sessionId}`);
    expect(await to('failed')).toBe(`https://shop.example/declined?session_id=${fixtureView.sessionId}`);
    expect(await to('processing')).toBe('/checkout/processing');
    expect(await to('requires_action')).toBe('/checkout/requires_action');
    expect(await to('payable')).toBe('/checkout/payable');
  });
});

describe('paying', () => {
  it('redirects by 303 and hands over card and payer', async () => {
    const answer = await post(server, 'payable', 'pay', goodCard);
    expect(answer).toMatchObject({ status: 303, headers: { location: `https://shop.example/thanks?order=7&session_id=${fixtureView.sessionId}` }, body: '' });
    expect(server.door.payments).toEqual([{ token: 'payable', last4: '4242', savedTokenId: null, payer: { name: 'Ada Lovelace', email: 'ada@example.com' } }]);
  });

  it('pays with a saved card', async () => {
    const id = fixtureStates['saved']?.savedCards?.[1]?.id ?? '';
    expect((await post(server, 'saved', 'pay', { method: id })).status).toBe(303);
    expect(server.door.payments).toMatchObject([{ savedTokenId: id }]);
  });

  it('draws the form again with name and e-mail, never with number or code', async () => {
    const answer = await post(server, 'live', 'pay', { ...goodCard, number: '4111 1111 1111 1112', cvc: '987', expiry: '12/20' });
    expect(answer.status).toBe(422);
    expect(answer.body).toContain('value="Ada Lovelace"');
    expect(answer.body).toContain('value="ada@example.com"');
    expect(answer.body).not.toMatch(/4111|1112|987/);
    expect(answer.body).toContain('autofocus');
    expect(server.door.payments).toEqual([]);
  });

  it.each([
    [{ kind: 'processing' }, 303],
    [{ kind: 'refused', status: 'expired' }, 303],
    [{ kind: 'try_again', reason: 'gateway_unavailable' }, 503],
    [{ kind: 'card_rejected', field: 'cvc', message: 'The gateway says no to this code.' }, 422],
  ] as const)('answers %o with %i', async (result, status) => {
    server.door.results.push(result);
    const answer = await post(server, 'payable', 'pay', goodCard);
    expect(answer.status).toBe(status);
    if (status === 303) expect(answer.headers['location']).toBe('/checkout/payable');
    else expect(answer.body).toContain('value="Ada Lovelace"');
    if (result.kind === 'card_rejected') expect(answer.body).toContain(result.message);
  });

  it.each(['processing', 'requires_action', 'completed', 'failed', 'expired', 'cancelled'])('never reaches the gateway in state %s', async (state) => {
    const form_token = await formTokenOf(server, 'payable');
    expect(await post(server, state, 'pay', { ...goodCard, form_token })).toMatchObject({ status: 303, headers: { location: `/checkout/${state}` } });
    expect(server.door.payments).toEqual([]);
  });

  it('refuses forms that are not ours', async () => {
    for (const site of ['cross-site', 'same-site']) expect((await post(server, 'payable', 'pay', goodCard, { 'sec-fetch-site': site })).status).toBe(403);
    for (const form_token of ['', 'x', 'ÿ'.repeat(51)]) expect((await post(server, 'payable', 'pay', { ...goodCard, form_token })).status).toBe(403);
    expect((await post(server, 'payable', 'pay', goodCard, { 'sec-fetch-site': 'same-origin', origin: 'null' })).status).toBe(303);
    expect(server.door.payments).toHaveLength(1);
  });

  it('refuses bodies that are no small form', async () => {
    expect((await post(server, 'payable', 'pay', { ...goodCard, name: 'x'.repeat(20_000) })).status).toBe(413);
    const chunked = await request(`${server.url}/checkout/payable/pay`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Readable.from(Array.from({ length: 40 }, () => Buffer.alloc(1_000, 120))),
    });
    expect(chunked.statusCode).toBe(413);
    await chunked.body.dump();
    for (const type of ['application/json', 'multipart/form-data; boundary=x', 'text/plain']) expect((await post(server, 'payable', 'pay', {}, { 'content-type': type })).status).toBe(400);
    expect((await post(server, 'payable', 'pay', {}, { 'content-encoding': 'gzip' })).status).toBe(400);
  });

  it('cancels by a form, to the merchant', async () => {
    expect(await post(server, 'payable', 'cancel', {})).toMatchObject({ status: 303, headers: { location: `https://shop.example/cart?session_id=${fixtureView.sessionId}` } });
    expect((await get(server, '/checkout/payable/cancel')).status).toBe(404);
  });
});

describe('when something is wrong', () => {
  it('answers 429 with the seconds to wait', async () => {
    let reads: number | null = null;
    const limited = await startFixtureServer({ limits: { read: () => Promise.resolve(reads), post: () => Promise.resolve(17) } });
    expect(await post(limited, 'payable', 'pay', goodCard)).toMatchObject({ status: 429, headers: { 'retry-after': '17' } });
    expect(limited.door.payments).toEqual([]);
    reads = 9;
    for (const path of ['payable', 'nowhere', 'processing/status']) expect(await get(limited, `/checkout/${path}`)).toMatchObject({ status: 429, headers: { 'retry-after': '9' } });
    await limited.close();
  });

  it('answers 503 while a part is down, and 500 without a word of what broke', async () => {
    const openCheckout = server.door.openCheckout;
    const broken = await startFixtureServer({
      checkout: {
        ...server.door,
        openCheckout: (token) => (token === 'down' ? Promise.reject(new DomainError('service_unavailable', 'no')) : token === 'odd' ? Promise.reject(new Error('secret detail')) : openCheckout(token)),
      },
    });
    expect(await get(broken, '/checkout/down')).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    const odd = await get(broken, '/checkout/odd');
    expect(odd.status).toBe(500);
    expect(odd.body).not.toContain('secret');
    expect(broken.errors).toHaveLength(1);
    await broken.close();
  });
});

describe('the assets', () => {
  it('are named by their content, compressed and kept for ever', async () => {
    const { body } = await get(server, '/checkout/payable');
    const path = /\/assets\/[^"]+\/checkout\.css/.exec(body)?.[0] ?? '';
    const answer = await request(server.url + path, { headers: { 'accept-encoding': 'br' } });
    expect(answer.headers).toMatchObject({ 'content-encoding': 'br', 'cache-control': 'public, max-age=31536000, immutable', 'content-type': 'text/css; charset=utf-8' });
    expect(brotliDecompressSync(Buffer.from(await answer.body.arrayBuffer())).toString()).toContain('--ground');
    expect((await get(server, path.replace(/assets\/./, 'assets/_'))).status).toBe(404);
    expect((await get(server, '/assets/../../package.json')).status).toBe(404);
  });

  it('weigh under 30 KB with their page, compressed', async () => {
    const size = async (path: string, encoding: string) => {
      const answer = await request(server.url + path, { headers: { 'accept-encoding': encoding } });
      return (await answer.body.arrayBuffer()).byteLength;
    };
    for (const encoding of ['gzip', 'br']) {
      for (const state of ['payable', 'saved', 'many', 'arabic', 'completed']) {
        const { body } = await get(server, `/checkout/${state}`);
        const paths = [`/checkout/${state}`, ...new Set(body.match(/\/assets\/[^"]+/g))];
        const sizes = await Promise.all(paths.map((path) => size(path, encoding)));
        const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
        expect(total, `${state} by ${encoding}: ${sizes.join(' + ')}`).toBeLessThan(20_000);
      }
    }
  });
});
