import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normaliseHostname } from '../../../domain/hostname.ts';
import { hostOf, parseRedirectUrl, withSessionId } from '../../../domain/redirect-url.ts';

describe('a redirect address', () => {
  it('may be any http(s) address in test mode and https alone in live mode', () => {
    expect(parseRedirectUrl('http://localhost:4000/ok?a=1#x', 'test')).toEqual({ text: 'http://localhost:4000/ok?a=1#x', hostname: 'localhost' });
    expect(parseRedirectUrl('http://shop.example/ok', 'live')).toBe('https_required');
    expect(parseRedirectUrl('https://shop.example/ok', 'live')).toMatchObject({ hostname: 'shop.example' });
  });

  it('is compared by its host in lower case, in punycode, without port and final dot', () => {
    for (const [text, hostname] of [
      ['https://SHOP.Example:8443/x', 'shop.example'],
      ['https://bücher.example/', 'xn--bcher-kva.example'],
      ['https://shop.example./', 'shop.example'],
      ['https://[::1]/', '[::1]'],
    ] as const) {
      expect(parseRedirectUrl(text, 'live')).toMatchObject({ hostname });
      expect(hostOf(text)).toBe(hostname);
      expect(normaliseHostname(hostname)).toBe(hostname);
    }
  });

  it.each([
    'javascript:alert(1)', 'JaVaScRiPt:alert(1)//https://x', 'data:text/html,x', 'ftp://shop.example/', '//shop.example/', '/relative', 'shop.example', '', 'https://', 'https:///x',
    'https:shop.example', 'https://user@shop.example/', 'https://user:pw@shop.example/', 'https://@shop.example/', 'https://shop.example/\r\nSet-Cookie: a=b', 'https://shop.example/\u0000',
    'https://shop.example/a b', 'https://shop.example\\@evil.example/', ' https://shop.example/', 'https://shop.example/\u2028', `https://shop.example/${'x'.repeat(2048)}`, 'https://256.256.256.256/', 'https://exa%00mple/',
  ])('is not %j', (text) => {
    expect(parseRedirectUrl(text, 'test')).toBe('invalid_url');
  });
});

describe('adding the session id', () => {
  it.each([
    ['https://shop.example', 'https://shop.example?session_id=cs_1'],
    ['https://shop.example/ok', 'https://shop.example/ok?session_id=cs_1'],
    ['https://shop.example/ok?', 'https://shop.example/ok?session_id=cs_1'],
    ['https://shop.example/ok?a=1', 'https://shop.example/ok?a=1&session_id=cs_1'],
    ['https://shop.example/ok?a=1&', 'https://shop.example/ok?a=1&session_id=cs_1'],
    ['https://shop.example/ok?a=b?', 'https://shop.example/ok?a=b?&session_id=cs_1'],
    ['https://shop.example/#/paid?x', 'https://shop.example/?session_id=cs_1#/paid?x'],
    ['https://shop.example/ok?a=%20b&c=d+e#top', 'https://shop.example/ok?a=%20b&c=d+e&session_id=cs_1#top'],
  ])('%s becomes %s', (text, expected) => {
    expect(withSessionId(text, 'cs_1')).toBe(expected);
  });

  it('leaves the merchant\'s own query, fragment and host as they were', () => {
    // Made of the characters that separate, so that every way of putting them together comes up.
    const part = fc.string({ unit: fc.constantFrom('a', '%20', '=', '&', '?', '/', '+', ';', ':', '@'), maxLength: 8 });
    const address = fc.tuple(part, fc.option(part), fc.option(part)).map(([path, query, fragment]) => `https://shop.example/${path.replace(/\?/g, '')}${query === null ? '' : `?${query}`}${fragment === null ? '' : `#${fragment}`}`);
    fc.assert(
      fc.property(address, (text) => {
        const before = new URL(text);
        const after = new URL(withSessionId(text, 'cs_1'));
        expect(after.origin + after.pathname + after.hash).toBe(before.origin + before.pathname + before.hash);
        expect(after.search.startsWith(before.search)).toBe(true);
        expect(after.searchParams.getAll('session_id')).toEqual(['cs_1']);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a registered hostname', () => {
  it('is taken in any spelling and kept in one', () => {
    expect(normaliseHostname('Shop.Example')).toBe('shop.example');
    expect(normaliseHostname('shop.example.')).toBe('shop.example');
    expect(normaliseHostname('bücher.example')).toBe('xn--bcher-kva.example');
  });

  it.each(['', ' ', 'https://shop.example', 'shop.example/x', 'shop.example:443', 'user@shop.example', '*.shop.example', 'a..b', '-', 'shop example', `${'a'.repeat(64)}.example`, 'a%2eb', '[::1', '::1'])('is not %j', (text) => {
    expect(normaliseHostname(text)).toBeNull();
  });
});
