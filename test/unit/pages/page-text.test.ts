import { describe, expect, it } from 'vitest';
import { declineCodes } from '../../../domain/gateway-outcome.ts';
import { admittedImage, imageOrigins, safeHref } from '../../../pages/addresses.ts';
import { brandSheet, brandSheetPath } from '../../../pages/brand.ts';
import { toneOf } from '../../../pages/checkout/decline.ts';
import { wayBack } from '../../../pages/checkout/way-back.ts';
import { chooseText } from '../../../pages/text/choose.ts';
import { fixtureView } from '../../browser/support/fixture-checkout.ts';

describe('the language of a page', () => {
  it.each([
    ['es-MX', 'fr', 'es', 'es-MX'],
    [null, 'de, fr;q=0.8, en;q=0.9', 'en', 'en'],
    [null, 'de-AT, fr-CA;q=0.5', 'fr', 'fr-CA'],
    ['ar-EG-u-nu-arab', '', 'ar', 'ar-EG'],
    ['xx', 'es', 'es', 'es'],
    ['not a locale', ';;;q=,,*', 'en', 'en'],
    [null, 'es;q=0', 'en', 'en'],
    ['en_GB', '', 'en', 'en-GB'],
  ])('of session %s and browser "%s" is %s, its numbers %s', (session, browser, lang, locale) => {
    const text = chooseText(session, browser);
    expect([text.messages.lang, text.locale]).toEqual([lang, locale]);
  });

  it('runs right to left in Arabic alone', () => {
    expect(['ar', 'en', 'es', 'fr'].map((tag) => chooseText(tag, '').messages.dir)).toEqual(['rtl', 'ltr', 'ltr', 'ltr']);
  });
});

describe('a decline', () => {
  it('has a sentence for every code and for codes nobody knows', () => {
    for (const code of [...declineCodes, 'from_the_future', '__proto__', null]) expect(chooseText(null, '').messages.declines[toneOf(code)]).toMatch(/\.$/);
  });
  it('never tells that a card is lost, stolen or suspected', () => {
    for (const code of ['lost_card', 'stolen_card', 'fraudulent']) expect(toneOf(code)).toBe(toneOf('generic_decline'));
  });

  it('does not blame the bank for a payment that never reached it', () => {
    expect(toneOf(null)).toBe('gateway');
  });
});

describe('addresses in a page', () => {
  it('links to http(s) and to nothing else', () => {
    expect(safeHref('https://shop.example/a?b=c#d')).toBe('https://shop.example/a?b=c#d');
    for (const bad of ['javascript:alert(1)', 'data:text/html,x', ' java\tscript:alert(1)', '//shop.example', '', null]) expect(safeHref(bad)).toBeUndefined();
  });
  it('admits images of https origins, once each and twelve at most', () => {
    expect(imageOrigins(['https://a.example/1.png', 'https://a.example/2.png', 'http://b.example/x', null, 'data:image/png;base64,'])).toEqual(['https://a.example']);
    const many = Array.from({ length: 20 }, (_, i) => `https://i${i}.example/x.png`);
    const origins = imageOrigins(many);
    expect(origins).toHaveLength(12);
    expect(admittedImage(many[11]!, origins)).toBe(many[11]);
    expect(admittedImage(many[12]!, origins)).toBeNull();
  });
  it('cannot be made to add a word to the policy', () => {
    for (const bad of ["https://a.example; script-src 'unsafe-inline'/x", "https://a.example 'unsafe-inline'/", 'https://*.example/x', 'https://a,b/']) {
      for (const origin of imageOrigins([bad])) expect(origin).toMatch(/^https:\/\/[a-z0-9.:[\]-]+$/);
    }
  });
  it('leads a customer back with the id of the session', () => {
    const back = (phase: 'completed' | 'failed' | 'expired' | 'cancelled' | 'payable', cancelUrl: string | null = 'https://shop.example/cart') => wayBack({ ...fixtureView, phase, cancelUrl });
    expect(back('completed')).toBe(`https://shop.example/thanks?order=7&session_id=${fixtureView.sessionId}`);
    expect(back('failed')).toBe(`https://shop.example/declined?session_id=${fixtureView.sessionId}`);
    expect(back('cancelled')).toBe(`https://shop.example/cart?session_id=${fixtureView.sessionId}`);
    expect(back('expired', null)).toBe(`https://shop.example/declined?session_id=${fixtureView.sessionId}`);
    expect(back('cancelled', null)).toBeNull();
    expect(back('payable')).toBeNull();
  });
});

describe('the colour of a merchant', () => {
  it('carries the text that contrasts more', () => {
    expect(brandSheet('ffd400')).toContain('--on-action:#000');
    expect(brandSheet('123456')).toContain('--on-action:#fff');
  });
  it('is six hex digits or none', () => {
    expect(brandSheetPath('#FFD400')).toBe('/assets/brand/ffd400.css');
    for (const bad of ['red', '#fff', '#ffd400;}', '../x', '', null]) expect(brandSheetPath(bad)).toBeUndefined();
  });
});
