// Which addresses we may send to: https and public unicast only, judged when an endpoint is saved and again at every
// connection, on literals and on each resolved address. It must never connect to an address it has not judged itself.
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { DomainError } from '../domain/errors.ts';
import type { Mode } from '../domain/mode.ts';

export const maxUrlLength = 2048;
/** Saving an endpoint does not wait longer than this for a name to resolve. */
const resolveAtSaveMs = 1500;

/** All addresses of a name; throws when there is none. Handed in, so that tests decide what a name means. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface GuardRules {
  /** Admits http(s) on 127.0.0.0/8, ::1 and localhost, for test keys. */
  readonly allowLoopback: boolean;
  readonly resolve: Resolve;
}

/** A target that may not be connected to; the message names the rule, never an internal address that a name led to. */
export class TargetNotAllowed extends Error {
  override readonly name = 'TargetNotAllowed';
}

/**
 * Checks an address when it is saved. A name that cannot be resolved just now passes: the connection is judged anyway.
 * @returns the address in its normal form
 * @throws DomainError target_url_not_allowed
 */
export async function checkTargetUrl(text: string, mode: Mode, rules: GuardRules): Promise<string> {
  try {
    const url = parseTarget(text, mode === 'test' && rules.allowLoopback);
    const host = bareHost(url.hostname);
    if (isIP(host) === 0 && host !== 'localhost') {
      const addresses = await resolvedWithin(rules.resolve(host), resolveAtSaveMs);
      if (!addresses.every(isPublicAddress)) throw new TargetNotAllowed(`${host} does not resolve to public addresses only.`);
    }
    return url.href;
  } catch (error) {
    if (!(error instanceof TargetNotAllowed)) throw error;
    throw new DomainError('target_url_not_allowed', `This address cannot receive webhooks: ${error.message}`, {
      param: 'url',
      errors: [{ path: 'url', code: 'target_url_not_allowed', message: error.message }],
    });
  }
}

/** The check as operations take it. Without `resolve` names mean what DNS says. */
export function createTargetCheck(rules: { allowLoopback: boolean; resolve?: Resolve }): (url: string, mode: Mode) => Promise<string> {
  const resolve = rules.resolve ?? createResolve();
  return (url, mode) => checkTargetUrl(url, mode, { allowLoopback: rules.allowLoopback, resolve });
}

/**
 * The addresses a connection may be made to, in the order to try them.
 * @param hostname as in the request's URL, brackets allowed
 * @throws TargetNotAllowed, or the resolver's error
 */
export async function admittedAddresses(hostname: string, protocol: string, rules: GuardRules): Promise<readonly string[]> {
  const host = bareHost(hostname);
  if (rules.allowLoopback && isLoopbackHost(host)) return host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
  if (protocol !== 'https:') throw new TargetNotAllowed('Only https is allowed.');
  if (isIP(host) !== 0) {
    if (!isPublicAddress(host)) throw new TargetNotAllowed('The address is not a public one.');
    return [host];
  }
  if (isLocalName(host)) throw new TargetNotAllowed('The name is a local one.');
  const addresses = await rules.resolve(host);
  if (addresses.length === 0) throw new Error(`${host} has no address`);
  // One private address among public ones is an attack or a mistake; which one would be dialled is chance.
  if (!addresses.every(isPublicAddress)) throw new TargetNotAllowed('The name does not resolve to public addresses only.');
  return [...addresses].sort((a, b) => isIP(a) - isIP(b));
}

/** Whether an IP literal is a public unicast address. IPv6 forms that carry an IPv4 address inside are refused as such. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  // Global unicast is 2000::/3 (RFC 4291, 2.4); outside it are forms such as ::127.0.0.1 that the table does not name.
  return parsed instanceof ipaddr.IPv6 ? (parsed.parts[0] ?? 0) >> 13 === 1 : true;
}

/** Resolves over DNS alone, without the operating system's thread pool, which a hanging name server could fill. */
export function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: 1500, tries: 2 });
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [first] = answers;
    if (addresses.length === 0 && first?.status === 'rejected') throw first.reason;
    return addresses;
  };
}

function parseTarget(text: string, allowLoopback: boolean): URL {
  if (text.length > maxUrlLength) throw new TargetNotAllowed(`It is longer than ${maxUrlLength} characters.`);
  // The URL parser drops tabs and line ends and turns a backslash into a slash; what we store must read as what we dial.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007f\\]/.test(text)) throw new TargetNotAllowed('It contains spaces, control characters or backslashes.');
  if (!URL.canParse(text)) throw new TargetNotAllowed('It is not an absolute URL.');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new TargetNotAllowed('Only https is allowed.');
  if (url.username !== '' || url.password !== '' || /^[a-z]+:\/*[^/?#]*@/i.test(text)) {
    throw new TargetNotAllowed('User names and passwords do not belong in it.');
  }
  if (url.href.length > maxUrlLength) throw new TargetNotAllowed(`It is longer than ${maxUrlLength} characters.`);
  const host = bareHost(url.hostname);
  if (host.endsWith('.')) throw new TargetNotAllowed('The host name ends with a dot.');
  if (allowLoopback && isLoopbackHost(host)) return url;
  if (url.protocol !== 'https:') throw new TargetNotAllowed('Only https is allowed.');
  if (isIP(host) !== 0 ? !isPublicAddress(host) : isLocalName(host)) throw new TargetNotAllowed('Only public internet addresses are allowed.');
  return url;
}

function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.toLowerCase();
}

function isLoopbackHost(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

/** Names that never mean a host of the public internet (RFC 6761, RFC 6762, RFC 8375 and ICANN's .internal). */
function isLocalName(host: string): boolean {
  return !host.includes('.') || /(^|\.)(localhost|local|internal|home\.arpa|lan|intranet|onion|invalid)\.?$/.test(host);
}

async function resolvedWithin(resolving: Promise<readonly string[]>, limitMs: number): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((done) => {
    timer = setTimeout(done, limitMs, []);
  });
  try {
    return await Promise.race([resolving.catch(() => []), late]);
  } finally {
    clearTimeout(timer);
  }
}
