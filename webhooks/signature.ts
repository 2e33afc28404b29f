// Signs the bytes that are sent, in our own scheme and in that of Standard Webhooks side by side.
// Specification: Authentication, 5; https://www.standardwebhooks.com for the second.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { secretKey } from './secret.ts';

export interface SignatureInput {
  readonly eventId: string;
  readonly eventType: string;
  /** Which attempt of the delivery this is, from 1. */
  readonly attempt: number;
  readonly body: Buffer;
  readonly secret: string;
  /** During a rotation the secret that is to follow, else null. */
  readonly nextSecret: string | null;
  /** Signed anew for each attempt, so that receivers can hold their replay window. */
  readonly now: Date;
}

/** Receivers reject what is older or newer than this. Specification: Limits, webhook replay window. */
export const replayWindowSeconds = 5 * 60;

/** Header names and values in turn, as undici takes them without another walk. */
export function signedHeaders(input: SignatureInput): string[] {
  const timestamp = String(Math.floor(input.now.getTime() / 1000));
  const standard = [standardSignature(input, timestamp, input.secret)];
  if (input.nextSecret !== null) standard.push(standardSignature(input, timestamp, input.nextSecret));
  const headers = [
    'x-svc-signature', bodySignature(input.secret, timestamp, input.body),
    'x-svc-timestamp', timestamp,
    'x-svc-event', input.eventType,
    'x-svc-event-id', input.eventId,
    'x-svc-delivery-attempt', String(input.attempt),
    'webhook-id', input.eventId,
    'webhook-timestamp', timestamp,
    'webhook-signature', standard.join(' '),
  ];
  if (input.nextSecret !== null) headers.push('x-svc-signature-next', bodySignature(input.nextSecret, timestamp, input.body));
  return headers;
}

/** Lower-case hex HMAC-SHA256 over `{timestamp}.{body}`; the key is the whole secret as text, prefix included. */
export function bodySignature(secret: string, timestamp: string, body: Buffer | string): string {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
}

/** What a receiver does: compares in constant time and holds the replay window. `now` in UTC. */
export function isSignatureValid(input: { secret: string; timestamp: string; signature: string; body: Buffer | string; now: Date }): boolean {
  if (!/^\d{1,12}$/.test(input.timestamp) || !/^[0-9a-f]{64}$/.test(input.signature)) return false;
  if (Math.abs(input.now.getTime() / 1000 - Number(input.timestamp)) > replayWindowSeconds) return false;
  const expected = bodySignature(input.secret, input.timestamp, input.body);
  return timingSafeEqual(Buffer.from(expected), Buffer.from(input.signature));
}

function standardSignature(input: SignatureInput, timestamp: string, secret: string): string {
  const mac = createHmac('sha256', secretKey(secret)).update(`${input.eventId}.${timestamp}.`).update(input.body).digest('base64');
  return `v1,${mac}`;
}
