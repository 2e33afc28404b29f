// The merchant's redirect addresses: which text is acceptable as one, and how the session id is added to it.
// Whether a host is registered is a question to the database and not asked here. Specification: Authentication, 4.
import type { Mode } from './mode.ts';

export const redirectUrlMaxLength = 2048;

export type RedirectUrlProblem = 'invalid_url' | 'https_required';

export interface RedirectUrl {
  /** As the merchant wrote it. */
  readonly text: string;
  /** Lower case, punycode, without port and without the dot of an absolute name: what a registered domain is compared with. */
  readonly hostname: string;
}

/** Anything a browser or a Location header could misread: C0 and C1 controls, blanks, backslashes. */
// oxlint-disable-next-line no-control-regex
const forbidden = /[\u0000-\u0020\u007f-\u00a0\u2028\u2029\\]/;

/**
 * Absolute http(s) address without user info; live mode demands https.
 * @returns the address with its hostname, or what is wrong with it
 */
export function parseRedirectUrl(text: string, mode: Mode): RedirectUrl | RedirectUrlProblem {
  if (text.length > redirectUrlMaxLength || forbidden.test(text) || !/^https?:\/\/[^/?#]/i.test(text)) return 'invalid_url';
  const url = tryParse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'invalid_url';
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text)) return 'invalid_url';
  const hostname = url.hostname.replace(/\.$/, '');
  if (hostname === '') return 'invalid_url';
  if (mode === 'live' && url.protocol !== 'https:') return 'https_required';
  return { text, hostname };
}

/**
 * The address a customer is sent to: the merchant's own query and fragment stay as they are, `session_id` is added last.
 * @param text an address that `parseRedirectUrl` accepted
 */
export function withSessionId(text: string, sessionId: string): string {
  const hashAt = text.indexOf('#');
  const fragment = hashAt === -1 ? '' : text.slice(hashAt);
  const base = hashAt === -1 ? text : text.slice(0, hashAt);
  const queryAt = base.indexOf('?');
  // Only the first question mark begins the query; a later one is part of a value.
  const joint = queryAt === -1 ? '?' : queryAt === base.length - 1 || base.endsWith('&') ? '' : '&';
  return `${base}${joint}session_id=${encodeURIComponent(sessionId)}${fragment}`;
}

function tryParse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** Hostname, as registered domains are compared, of an address that `parseRedirectUrl` accepted. */
export function hostOf(text: string): string {
  return new URL(text).hostname.replace(/\.$/, '');
}
