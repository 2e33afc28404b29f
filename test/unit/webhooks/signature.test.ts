// What a receiver can verify: our own signature, that of Standard Webhooks, both during a rotation.
import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { createKeyRing } from '../../../platform/key-ring.ts';
import { makeEvent } from '../../../webhooks/envelope.ts';
import { makeSecret, openSecret, sealSecret, secretKey } from '../../../webhooks/secret.ts';
import { isSignatureValid, signedHeaders } from '../../../webhooks/signature.ts';

const now = new Date();
const body = Buffer.from('{"id":"evt_1","note":"Zoë 🛒"}');

function headersOf(secret: string, nextSecret: string | null = null): Record<string, string> {
  const flat = signedHeaders({ eventId: 'evt_1', eventType: 'payment.completed', attempt: 3, body, secret, nextSecret, now });
  const headers: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) headers[flat[i]!] = flat[i + 1]!;
  return headers;
}

describe('a secret', () => {
  test('is whsec_ and the padded base64 of 32 bytes', () => {
    const random = randomBytes(32);
    const secret = makeSecret(random);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secretKey(secret)).toEqual(random);
    expect(() => makeSecret(randomBytes(31))).toThrow(RangeError);
  });

  test('opens only for the endpoint it was sealed for', () => {
    const ring = createKeyRing(['a master key of 32 characters....']);
    const secret = makeSecret(randomBytes(32));
    const sealed = sealSecret(ring, 'we_one', secret);
    expect(sealed).not.toContain(secret.slice(6, 20));
    expect(openSecret(ring, 'we_one', sealed)).toBe(secret);
    expect(() => openSecret(ring, 'we_two', sealed)).toThrow();
  });
});

describe('a signature', () => {
  const secret = makeSecret(randomBytes(32));

  test('is hex HMAC-SHA256 of timestamp and body under the whole secret as text', () => {
    const headers = headersOf(secret);
    const timestamp = String(Math.floor(now.getTime() / 1000));
    expect(headers['x-svc-timestamp']).toBe(timestamp);
    expect(headers['x-svc-signature']).toBe(createHmac('sha256', secret).update(`${timestamp}.${body.toString()}`).digest('hex'));
    expect(headers).toMatchObject({ 'x-svc-event': 'payment.completed', 'x-svc-event-id': 'evt_1', 'x-svc-delivery-attempt': '3' });
    expect(headers).not.toHaveProperty('x-svc-signature-next');
  });

  test('is verified by the standardwebhooks package', () => {
    expect(new Webhook(secret).verify(body.toString(), headersOf(secret))).toMatchObject({ id: 'evt_1' });
    expect(() => new Webhook(makeSecret(randomBytes(32))).verify(body.toString(), headersOf(secret))).toThrow();
  });

  test('during a rotation verifies with the old secret and with the new', () => {
    const next = makeSecret(randomBytes(32));
    const headers = headersOf(secret, next);
    const timestamp = headers['x-svc-timestamp']!;
    expect(isSignatureValid({ secret, timestamp, signature: headers['x-svc-signature']!, body, now })).toBe(true);
    expect(isSignatureValid({ secret: next, timestamp, signature: headers['x-svc-signature-next']!, body, now })).toBe(true);
    for (const one of [secret, next]) expect(new Webhook(one).verify(body.toString(), headers)).toMatchObject({ id: 'evt_1' });
  });

  test('is refused outside five minutes, over other bytes, and in another form', () => {
    const headers = headersOf(secret);
    const valid = { secret, timestamp: headers['x-svc-timestamp']!, signature: headers['x-svc-signature']!, body, now };
    expect(isSignatureValid(valid)).toBe(true);
    expect(isSignatureValid({ ...valid, now: new Date(now.getTime() + 302_000) })).toBe(false);
    expect(isSignatureValid({ ...valid, now: new Date(now.getTime() - 302_000) })).toBe(false);
    expect(isSignatureValid({ ...valid, body: `${body.toString()} ` })).toBe(false);
    expect(isSignatureValid({ ...valid, signature: valid.signature.toUpperCase() })).toBe(false);
    expect(isSignatureValid({ ...valid, signature: '' })).toBe(false);
    expect(isSignatureValid({ ...valid, timestamp: 'NaN' })).toBe(false);
    expect(isSignatureValid({ ...valid, secret: secret.slice(6) })).toBe(false);
  });
});

test('an envelope has exactly the decided members, in their order', () => {
  const event = makeEvent({ id: 'evt_1', type: 'payment.completed', mode: 'test', createdAt: new Date('2026-01-02T03:04:05.678Z'), sequence: 2, resourceType: 'payment', resourceId: 'txn_1', data: { amount: 1 } });
  expect(event.body).toBe(
    '{"id":"evt_1","event":"payment.completed","version":3,"mode":"test","created_at":"2026-01-02T03:04:05.678Z","sequence":2,"resource":{"type":"payment","id":"txn_1"},"data":{"amount":1}}',
  );
});
