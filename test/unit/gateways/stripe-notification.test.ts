// Notifications of Stripe: who signed them, when, and what of ours they are about.
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readStripeNotification } from '../../../gateways/stripe/notification.ts';

const secret = 'whsec_notification_test';
const nowMs = Date.UTC(2026, 0, 1, 12);
const event = JSON.stringify({ id: 'evt_1', object: 'event', type: 'refund.failed', data: { object: { id: 're_1', metadata: { reference: 'txn_1', key: 'txn_1:refund:1' } } } });

function read(fields: { rawBody?: string; signature?: string | undefined; secret?: string } = {}) {
  const signature = 'signature' in fields ? fields.signature : sign(fields.rawBody ?? event, nowMs);
  return readStripeNotification({ rawBody: fields.rawBody ?? event, header: (name) => (name === 'stripe-signature' ? signature : undefined), secret: fields.secret ?? secret, nowMs });
}
function sign(body: string, atMs: number, key = secret): string {
  const t = Math.floor(atMs / 1_000);
  return `t=${t},v1=${createHmac('sha256', key).update(`${t}.${body}`).digest('hex')}`;
}

describe('a notification of Stripe', () => {
  it('that is signed says what it is about', () => {
    expect(read()).toEqual({ id: 'evt_1', type: 'refund.failed', reference: 'txn_1', key: 'txn_1:refund:1' });
  });

  it('is read with any of several signatures, as while a secret is rolled', () => {
    const other = sign(event, nowMs, 'whsec_other').replace(/^t=\d+,/, '');
    expect(read({ signature: `${sign(event, nowMs)},${other}` })).not.toBeNull();
  });

  it('about a payment made elsewhere is about nothing of ours', () => {
    const rawBody = JSON.stringify({ id: 'evt_2', object: 'event', type: 'charge.succeeded', data: { object: { metadata: {} } } });
    expect(read({ rawBody })).toEqual({ id: 'evt_2', type: 'charge.succeeded', reference: null, key: null });
  });

  it.each([
    ['without a signature', { signature: undefined }],
    ['with an empty one', { signature: '' }],
    ['with the signature of another secret', { signature: sign(event, nowMs, 'whsec_other') }],
    ['with the signature of another body', { signature: sign(`${event} `, nowMs) }],
    ['six minutes old', { signature: sign(event, nowMs - 6 * 60_000) }],
    ['six minutes ahead', { signature: sign(event, nowMs + 6 * 60_000) }],
    ['signed, but not JSON', { rawBody: 'evt_1' }],
    ['signed, but no event', { rawBody: '[]' }],
    ['of an account without a secret', { secret: '', signature: sign(event, nowMs, '') }],
  ])('%s is nobody’s', (_, fields) => {
    expect(read(fields)).toBeNull();
  });
});
