// The address a request counts for: the socket's, or what a trusted proxy says. IPv6 counts by /64, the least a customer
// of a provider is given; otherwise one household would have 2^64 budgets.
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

export interface ClientAddresses {
  of(request: IncomingMessage): string;
  /** What an operator should know, or nothing. */
  warnings(): readonly string[];
}

export interface ClientAddressOptions {
  readonly trustedProxies: readonly string[];
  readonly warn: (message: string, peer: string) => void;
}

const privateRanges: ReadonlySet<string> = new Set(['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat']);
const warnAgainMs = 10 * 60_000;

export function createClientAddresses(options: ClientAddressOptions): ClientAddresses {
  const trusted = options.trustedProxies.map((text) => (text.includes('/') ? ipaddr.parseCIDR(text) : wholeAddress(text)));
  const isTrusted = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
    trusted.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
  const suspects = new Map<string, number>();

  /** A private peer that forwards for others is most likely our own proxy, left out of the list. */
  const suspect = (peer: string): void => {
    const now = Date.now();
    const last = suspects.get(peer);
    if (last !== undefined && now - last < warnAgainMs) return;
    if (suspects.size > 100) suspects.clear();
    suspects.set(peer, now);
    options.warn(warning(peer), peer);
  };

  return {
    of(request) {
      const peerText = request.socket.remoteAddress ?? '';
      const forwarded = request.headers['x-forwarded-for'];
      if (forwarded === undefined && !peerText.includes(':')) return peerText;
      if (!ipaddr.isValid(peerText)) return 'unknown';
      const peer = ipaddr.process(peerText);
      if (forwarded === undefined) return bucketOf(peer);
      if (!isTrusted(peer)) {
        if (privateRanges.has(peer.range())) suspect(peer.toString());
        return bucketOf(peer);
      }
      // From the right: the first hop that is not ours is as far as anybody's word can be believed.
      let client = peer;
      for (const hop of (Array.isArray(forwarded) ? forwarded.join(',') : forwarded).split(',').reverse()) {
        const text = hop.trim();
        if (!ipaddr.isValid(text)) break;
        client = ipaddr.process(text);
        if (!isTrusted(client)) break;
      }
      return bucketOf(client);
    },
    warnings: () => [...suspects.keys()].map(warning),
  };
}

function warning(peer: string): string {
  return `${peer} sends X-Forwarded-For but is not in TRUSTED_PROXIES: everybody behind it shares one rate limit`;
}

function wholeAddress(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function bucketOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  if (address.kind() === 'ipv4') return address.toString();
  return `${(address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16)).join(':')}::/64`;
}
