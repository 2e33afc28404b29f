// The only way out to merchants' servers: undici's connector behind the address guard. It connects to the address that
// was judged, never to what a second look-up might say (DNS rebinding), and keeps the name for TLS.
import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { admittedAddresses, type GuardRules } from './url-guard.ts';

/** How many addresses of one name are tried; each may take the whole connect timeout. */
const maxAddressesTried = 3;
const connectTimeoutMs = 4_000;
/** Connections idle this long are closed; receivers behind common proxies close theirs at 5 s and more. */
const keepAliveMs = 4_000;

/** @param connect opens the socket; tests hand in one that only records */
export function createGuardedConnector(rules: GuardRules, connect: buildConnector.connector = buildConnector({ timeout: connectTimeoutMs })): buildConnector.connector {
  return (options, callback) => {
    admittedAddresses(options.hostname, options.protocol, rules).then(
      (addresses) => tryEach(addresses.slice(0, maxAddressesTried), options, connect, callback),
      (error: Error) => callback(error, null),
    );
  };
}

/** One agent per rule set: a connection made under the loopback rule must not be reused for a live endpoint. */
export function createGuardedAgent(rules: GuardRules, connect?: buildConnector.connector): Agent {
  return new Agent({
    connect: createGuardedConnector(rules, connect),
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    maxHeaderSize: 16 * 1024,
    // The attempt has one clock of its own; undici's are off so that there is one truth about how it ended.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function tryEach(addresses: readonly string[], options: buildConnector.Options, connect: buildConnector.connector, callback: buildConnector.Callback): void {
  const [address, ...others] = addresses;
  if (address === undefined) return callback(new Error('no address to connect to'), null);
  const name = options.hostname.startsWith('[') ? options.hostname.slice(1, -1) : options.hostname;
  const servername = isIP(name) === 0 ? { servername: options.servername ?? name } : {};
  connect({ ...options, hostname: address, ...servername }, (...result) => {
    const [error] = result;
    if (error !== null && others.length > 0) return tryEach(others, options, connect, callback);
    callback(...result);
  });
}
