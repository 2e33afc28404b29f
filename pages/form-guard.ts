// Tells a form of ours from one that another site makes the browser send. `Origin` is of no use: with
// `Referrer-Policy: no-referrer` Chromium sends "null" for our own forms.
import type { Context } from 'koa';
import type { KeyRing } from '../platform/key-ring.ts';
import { isMacValid, makeMac } from '../platform/mac.ts';

/** The hidden `form_token` of a session's forms. */
export function makeFormToken(keyRing: KeyRing, sessionId: string): string {
  return makeMac(keyRing, 'page-form', sessionId);
}

export function isFormTokenValid(keyRing: KeyRing, sessionId: string, formToken: string): boolean {
  return isMacValid(keyRing, 'page-form', sessionId, formToken);
}

/** Browsers that do not send the header are judged by the token alone. */
export function comesFromElsewhere(ctx: Context): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  return site === 'cross-site' || site === 'same-site';
}
