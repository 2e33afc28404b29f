import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createClientAddresses } from '../../../api/middleware/client-address.ts';

const request = (remoteAddress: string, forwarded?: string): IncomingMessage =>
  ({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

function addresses(trustedProxies: readonly string[] = []) {
  const warned: string[] = [];
  return { warned, client: createClientAddresses({ trustedProxies, warn: (_, peer) => void warned.push(peer) }) };
}

describe('the client\'s address', () => {
  it('is the socket\'s, also when an IPv4 one is written as IPv6', () => {
    const { client } = addresses();
    expect(client.of(request('203.0.113.9'))).toBe('203.0.113.9');
    expect(client.of(request('::ffff:203.0.113.9'))).toBe('203.0.113.9');
  });

  it('counts IPv6 by /64', () => {
    const { client } = addresses();
    expect(client.of(request('2001:db8:1:2:3:4:5:6'))).toBe(client.of(request('2001:db8:1:2::9')));
    expect(client.of(request('2001:db8:1:3::9'))).not.toBe(client.of(request('2001:db8:1:2::9')));
  });

  it('is never what an untrusted peer says, and a private one is suspected once', () => {
    const { client, warned } = addresses();
    expect(client.of(request('203.0.113.9', '1.2.3.4'))).toBe('203.0.113.9');
    expect(warned).toEqual([]);
    expect(client.of(request('10.0.0.2', '1.2.3.4'))).toBe('10.0.0.2');
    client.of(request('10.0.0.2', '1.2.3.4'));
    expect(warned).toEqual(['10.0.0.2']);
    expect(client.warnings()).toHaveLength(1);
  });

  it('is the first hop from the right that is no proxy of ours', () => {
    const { client, warned } = addresses(['10.0.0.0/8', '2001:db8::1']);
    expect(client.of(request('10.0.0.2', '9.9.9.9, 203.0.113.9, 10.1.1.1'))).toBe('203.0.113.9');
    expect(client.of(request('2001:db8::1', '203.0.113.9'))).toBe('203.0.113.9');
    expect(client.of(request('10.0.0.2', 'nonsense'))).toBe('10.0.0.2');
    expect(client.of(request('10.0.0.2', '203.0.113.9, nonsense, 10.1.1.1'))).toBe('10.1.1.1');
    expect(client.of(request('10.0.0.2', '10.3.3.3'))).toBe('10.3.3.3');
    expect(warned).toEqual([]);
  });
});
