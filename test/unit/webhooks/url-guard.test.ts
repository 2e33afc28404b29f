// Addresses nobody may make us connect to, at save and at connect. No network: names mean what the test says, and the
// connector only records what it was asked to dial.
import { describe, expect, test } from 'vitest';
import type { buildConnector } from 'undici';
import { createGuardedConnector } from '../../../webhooks/connector.ts';
import { admittedAddresses, checkTargetUrl, type GuardRules, isPublicAddress } from '../../../webhooks/url-guard.ts';

const names: Readonly<Record<string, readonly string[]>> = {
  'shop.example.com': ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'],
  'private.example.com': ['10.0.0.5'],
  'metadata.example.com': ['169.254.169.254'],
  'mixed.example.com': ['93.184.216.34', '192.168.1.1'],
  'mixed6.example.com': ['93.184.216.34', 'fd00::1'],
  'mapped.example.com': ['::ffff:10.0.0.1'],
  'loop.example.com': ['127.0.0.1'],
  'loop6.example.com': ['::1'],
  'zero.example.com': ['0.0.0.0'],
  'cgnat.example.com': ['100.64.0.1'],
  'nat64.example.com': ['64:ff9b::a00:1'],
  'xn--bcher-kva.example.com': ['93.184.216.34'],
  'nothing.example.com': [],
};
const resolve = async (name: string): Promise<readonly string[]> => {
  const addresses = names[name];
  if (addresses === undefined) throw Object.assign(new Error(`queryA ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
  return addresses;
};
const strict: GuardRules = { allowLoopback: false, resolve };
const development: GuardRules = { allowLoopback: true, resolve };

const hostile = [
  // Schemes and forms.
  'http://shop.example.com/', 'ftp://shop.example.com/', 'file:///etc/passwd', 'javascript:alert(1)', 'data:text/plain,x', 'gopher://shop.example.com/',
  'ws://shop.example.com/', 'shop.example.com', '//shop.example.com/', '', 'https://', 'https:///', 'https://?x', 'https://[', 'https://shop.example.com:99999/',
  // User info, and what hides a host behind it.
  'https://user@shop.example.com/', 'https://user:password@shop.example.com/', 'https://@shop.example.com/', 'https://:@shop.example.com/', 'https://shop.example.com@127.0.0.1/',
  // Blanks, line ends, backslashes.
  'https://shop.example.com/\r\nX-Evil: 1', 'https://shop.example.com/ x', ' https://shop.example.com/', 'https://shop.example.com\t/', 'https:\\\\shop.example.com\\', 'https://shop.example.com\\@10.0.0.1/', 'https://shop.example.com/\u0000',
  // Loopback in every notation.
  'https://localhost/', 'https://LOCALHOST/', 'https://localhost./', 'https://sub.localhost/', 'https://127.0.0.1/', 'https://127.1/', 'https://127.0.0.1./', 'https://2130706433/', 'https://0x7f000001/', 'https://0x7f.0.0.1/',
  'https://0177.0.0.1/', 'https://017700000001/', 'https://127.255.255.254/', 'https://%31%32%37.0.0.1/', 'https://①②⑦.0.0.1/', 'https://127。0。0。1/', 'https://[::1]/', 'https://[0:0:0:0:0:0:0:1]/', 'https://[::127.0.0.1]/',
  'https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/', 'https://[::ffff:0:127.0.0.1]/', 'https://0.0.0.0/', 'https://0/', 'https://[::]/', 'http://localhost:3000/', 'http://127.0.0.1/', 'http://[::1]/',
  // Private, link-local, shared and special ranges.
  'https://10.0.0.1/', 'https://10.255.255.255/', 'https://172.16.0.1/', 'https://172.31.255.255/', 'https://192.168.0.1/', 'https://169.254.169.254/latest/meta-data/', 'https://2852039166/', 'https://0xa9fea9fe/', 'https://100.64.0.1/', 'https://100.127.255.255/',
  'https://192.0.0.1/', 'https://192.0.2.1/', 'https://198.18.0.1/', 'https://198.51.100.1/', 'https://203.0.113.1/', 'https://224.0.0.1/', 'https://239.255.255.255/', 'https://240.0.0.1/', 'https://255.255.255.255/', 'https://192.88.99.1/',
  'https://[fe80::1]/', 'https://[fe80::1%25eth0]/', 'https://[fc00::1]/', 'https://[fd12:3456::1]/', 'https://[fec0::1]/', 'https://[ff02::1]/', 'https://[64:ff9b::7f00:1]/', 'https://[64:ff9b:1::a00:1]/', 'https://[2002:7f00:1::]/', 'https://[2001::1]/',
  'https://[2001:db8::1]/', 'https://[100::1]/', 'https://[::a00:1]/', 'https://[5f00::1]/', 'https://[3fff::1]/',
  // Names of inner networks, and names that lead to one.
  'https://intranet/', 'https://printer.local/', 'https://metadata.google.internal/', 'https://router.lan/', 'https://nas.home.arpa/', 'https://hidden.onion/', 'https://shop.example.com./',
  'https://private.example.com/', 'https://metadata.example.com/', 'https://mixed.example.com/', 'https://mixed6.example.com/', 'https://mapped.example.com/', 'https://loop.example.com/', 'https://loop6.example.com/', 'https://zero.example.com/',
  'https://cgnat.example.com/', 'https://nat64.example.com/',
  `https://shop.example.com/${'x'.repeat(2048)}`,
];

describe('at save', () => {
  test.each(hostile)('%j is refused', async (url) => {
    await expect(checkTargetUrl(url, 'live', strict)).rejects.toMatchObject({ code: 'target_url_not_allowed', detail: { param: 'url' } });
  });

  test.each([
    ['https://shop.example.com/hooks?x=1', 'https://shop.example.com/hooks?x=1'],
    ['HTTPS://SHOP.example.com:443/Hooks', 'https://shop.example.com/Hooks'],
    ['https://shop.example.com:8443', 'https://shop.example.com:8443/'],
    ['https://bücher.example.com/', 'https://xn--bcher-kva.example.com/'],
    ['https://93.184.216.34/', 'https://93.184.216.34/'],
    ['https://[2606:2800:220:1:248:1893:25c8:1946]/', 'https://[2606:2800:220:1:248:1893:25c8:1946]/'],
    // It may resolve later, and every connection is judged.
    ['https://unknown.example.com/', 'https://unknown.example.com/'],
    ['https://shop.example.com/%40x@y', 'https://shop.example.com/%40x@y'],
  ])('%s is taken as %s', async (url, normal) => {
    expect(await checkTargetUrl(url, 'live', strict)).toBe(normal);
  });

  test.each(['http://localhost:4000/hooks', 'http://127.0.0.1:4000/', 'https://127.8.9.10/', 'http://[::1]:4000/'])('%s is for test keys in development only', async (url) => {
    expect(await checkTargetUrl(url, 'test', development)).toBe(url);
    await expect(checkTargetUrl(url, 'live', development)).rejects.toMatchObject({ code: 'target_url_not_allowed' });
    await expect(checkTargetUrl(url, 'test', strict)).rejects.toMatchObject({ code: 'target_url_not_allowed' });
  });

  test('development admits nothing else', async () => {
    for (const url of ['http://shop.example.com/', 'https://10.0.0.1/', 'http://loop.example.com/', 'https://loop.example.com/', 'http://[::ffff:127.0.0.1]/', 'http://0.0.0.0/', 'http://sub.localhost/', 'http://localhost./']) {
      await expect(checkTargetUrl(url, 'test', development), url).rejects.toMatchObject({ code: 'target_url_not_allowed' });
    }
  });

  test('a refusal does not tell which inner address a name led to', async () => {
    await expect(checkTargetUrl('https://private.example.com/', 'live', strict)).rejects.toThrow(/^(?!.*10\.0\.0\.5)/);
  });

  test('a name server that hangs does not hold the request up', async () => {
    const beganAt = performance.now();
    expect(await checkTargetUrl('https://shop.example.com/', 'live', { allowLoopback: false, resolve: () => new Promise(() => undefined) })).toBe('https://shop.example.com/');
    expect(performance.now() - beganAt).toBeLessThan(3000);
  });
});

interface Dialled {
  readonly hostname: string;
  readonly servername: string | undefined;
}

/** Asks the guarded connector for a connection; nothing ever leaves. */
async function dial(url: URL, rules: GuardRules, refuse: readonly string[] = []): Promise<{ dialled: Dialled[]; error: Error | null }> {
  const dialled: Dialled[] = [];
  const recording: buildConnector.connector = (options, callback) => {
    dialled.push({ hostname: options.hostname, servername: options.servername });
    if (refuse.includes(options.hostname)) callback(new Error('refused'), null);
    else callback(null, null as never);
  };
  const connector = createGuardedConnector(rules, recording);
  const error = await new Promise<Error | null>((done) => connector({ hostname: url.hostname, host: url.host, protocol: url.protocol, port: url.port }, (...[problem]) => done(problem)));
  return { dialled, error };
}

describe('at connect', () => {
  const dialable = hostile.filter((url) => URL.canParse(url) && /^https?:/.test(url));

  test.each(dialable.filter((url) => !/shop\.example\.com/.test(url) || url.startsWith('http:')))('no connection leaves for %j', async (url) => {
    const { dialled, error } = await dial(new URL(url), strict);
    expect(dialled).toEqual([]);
    expect(error).toBeInstanceOf(Error);
  });

  test('the address that was judged is dialled, IPv4 first, and TLS keeps the name', async () => {
    const { dialled } = await dial(new URL('https://shop.example.com/'), strict);
    expect(dialled).toEqual([{ hostname: '93.184.216.34', servername: 'shop.example.com' }]);
  });

  test('the next address is tried when the first does not answer', async () => {
    const { dialled, error } = await dial(new URL('https://shop.example.com/'), strict, ['93.184.216.34']);
    expect(dialled.map((one) => one.hostname)).toEqual(['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946']);
    expect(error).toBeNull();
  });

  test('a name that changes its meaning between look-ups is looked up once for each connection', async () => {
    let asked = 0;
    const rebinding: GuardRules = { allowLoopback: false, resolve: async () => (asked++ % 2 === 0 ? ['93.184.216.34'] : ['127.0.0.1']) };
    const first = await dial(new URL('https://rebind.example.com/'), rebinding);
    expect(first.dialled).toEqual([{ hostname: '93.184.216.34', servername: 'rebind.example.com' }]);
    const second = await dial(new URL('https://rebind.example.com/'), rebinding);
    expect(second.dialled).toEqual([]);
    expect(asked).toBe(2);
  });

  test('development dials loopback for literal addresses and localhost alone', async () => {
    expect((await dial(new URL('http://localhost:4000/'), development)).dialled.map((one) => one.hostname)).toEqual(['127.0.0.1']);
    expect((await dial(new URL('http://[::1]:4000/'), development)).dialled.map((one) => one.hostname)).toEqual(['::1']);
    expect((await dial(new URL('https://loop.example.com/'), development)).dialled).toEqual([]);
    expect((await dial(new URL('http://shop.example.com/'), development)).dialled).toEqual([]);
  });

  test('a name without addresses is an error, not a connection', async () => {
    await expect(admittedAddresses('nothing.example.com', 'https:', strict)).rejects.toThrow('no address');
  });
});

test.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '2a00:1450:4001::1'])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});
test.each(['::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::', 'not an address', ''])('%j is not', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});
