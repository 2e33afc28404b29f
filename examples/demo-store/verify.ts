// Decides whether a webhook really comes from the payment service. It must see the body as it came over the wire: a body
// that was parsed and printed again has other bytes and another signature.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Anybody who recorded a delivery could send it again later: what is older or newer than this is refused. */
export const replayWindowSeconds = 5 * 60;

export type Verdict = 'genuine' | 'unsigned' | 'outside_window' | 'wrong_signature';

/**
 * @param delivery the raw body, the headers in lower case as Node gives them, the endpoint's whole `whsec_…` secret and
 * the time in unix seconds
 */
export function verifyWebhook(delivery: { body: Buffer; headers: IncomingHttpHeaders; secret: string; nowSeconds: number }): Verdict {
  const timestamp = headerText(delivery.headers, 'x-svc-timestamp');
  // While a secret is being rotated, the signature by the next secret comes in a header of its own: the one we hold
  // is good in either place.
  const signatures = [headerText(delivery.headers, 'x-svc-signature'), headerText(delivery.headers, 'x-svc-signature-next')].filter((text) => text !== '');
  if (!/^\d{1,12}$/.test(timestamp) || signatures.length === 0) return 'unsigned';
  if (Math.abs(delivery.nowSeconds - Number(timestamp)) > replayWindowSeconds) return 'outside_window';
  const expected = createHmac('sha256', delivery.secret).update(`${timestamp}.`).update(delivery.body).digest();
  return signatures.some((signature) => equalsHex(expected, signature)) ? 'genuine' : 'wrong_signature';
}

/** In constant time: how long it takes must not tell a forger how many characters were right. */
function equalsHex(expected: Buffer, hex: string): boolean {
  return /^[0-9a-f]{64}$/.test(hex) && timingSafeEqual(expected, Buffer.from(hex, 'hex'));
}

function headerText(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}
