// Opens the `stripe` package for one call of ours: the account's key, our own wire, one deadline for all requests the
// call makes. No telemetry and no retries: what is repeated, and when, is decided by workflows.
import Stripe from 'stripe';
import type { Dispatcher } from 'undici';
import type { GatewayCall } from '../gateway.ts';
import { UndiciHttpClient } from './http-client.ts';

export interface StripeCredentials {
  /** `sk_…` or a restricted `rk_…` of the merchant's account in the call's mode. */
  readonly secretKey: string;
}

export interface StripeConnection {
  readonly dispatcher: Dispatcher;
  /** Scheme, host and port of Stripe or of a stand-in. */
  readonly origin: URL;
  readonly credentialsOf: (call: GatewayCall) => Promise<StripeCredentials>;
}

/** Thrown before anything is sent. */
export class NoCredentials extends Error {
  override readonly name = 'NoCredentials';
}

/**
 * @param timeoutMs for everything `work` does; what is under way then ends as unknown
 * @throws NoCredentials, and what `work` throws
 */
export async function withStripe<T>(connection: StripeConnection, call: GatewayCall, timeoutMs: number, work: (stripe: Stripe) => Promise<T>): Promise<T> {
  const ending = new AbortController();
  const end = () => ending.abort();
  if (call.signal?.aborted === true) end();
  const timer = setTimeout(end, timeoutMs);
  call.signal?.addEventListener('abort', end, { once: true });
  try {
    return await work(open(connection, await credentials(connection, call), timeoutMs, ending.signal));
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', end);
  }
}

async function credentials(connection: StripeConnection, call: GatewayCall): Promise<StripeCredentials> {
  try {
    return await connection.credentialsOf(call);
  } catch {
    // No cause: nothing that was read on the way to a key belongs into an error that may be logged.
    throw new NoCredentials('the credentials of the gateway account could not be read');
  }
}

function open({ dispatcher, origin }: StripeConnection, { secretKey }: StripeCredentials, timeoutMs: number, signal: AbortSignal): Stripe {
  const isPlain = origin.protocol === 'http:';
  return new Stripe(secretKey, {
    httpClient: new UndiciHttpClient(dispatcher, signal),
    maxNetworkRetries: 0,
    telemetry: false,
    timeout: timeoutMs,
    host: origin.hostname,
    port: origin.port === '' ? (isPlain ? 80 : 443) : Number(origin.port),
    protocol: isPlain ? 'http' : 'https',
  });
}
