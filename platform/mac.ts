// Message authentication codes for ids in addresses and for fingerprints. Comparison takes constant time.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyPurpose, KeyRing } from './key-ring.ts';

/** `{key id}{base64url HMAC-SHA256}` over the text: nothing secret has to be stored to check it later. */
export function makeMac(ring: KeyRing, purpose: KeyPurpose, text: string): string {
  return ring.current.id + createHmac('sha256', ring.current.derive(purpose)).update(text).digest('base64url');
}

/** True when the mac was made over this text by any key of the ring. */
export function isMacValid(ring: KeyRing, purpose: KeyPurpose, text: string, mac: string): boolean {
  const key = ring.find(mac.slice(0, 8));
  if (key === undefined) return false;
  const expected = Buffer.from(key.id + createHmac('sha256', key.derive(purpose)).update(text).digest('base64url'));
  const given = Buffer.from(mac);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** Keyed fingerprint as hex; the bare hash of a card number or a request could be reversed by trying. */
export function keyedFingerprint(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
