// Signing secrets of endpoints: how one is made, sealed for its row and opened again. Nothing here logs or compares.
import type { KeyRing } from '../platform/key-ring.ts';
import { seal, unseal } from '../platform/seal.ts';

const prefix = 'whsec_';
export const secretBytes = 32;

/** @param random 32 random bytes. @returns `whsec_` and their padded standard base64 */
export function makeSecret(random: Uint8Array): string {
  if (random.length !== secretBytes) throw new RangeError(`a signing secret takes ${secretBytes} random bytes`);
  return prefix + Buffer.from(random).toString('base64');
}

/** The bytes behind the prefix: the key of the Standard Webhooks signature. */
export function secretKey(secret: string): Buffer {
  return Buffer.from(secret.slice(prefix.length), 'base64');
}

/** Bound to the endpoint, so that a secret moved to another row does not open. */
export function sealSecret(ring: KeyRing, endpointId: string, secret: string): string {
  return seal(ring, 'webhook-secret', endpointId, secret);
}

/** @throws Error when the master key is not in the ring or the row was tampered with. */
export function openSecret(ring: KeyRing, endpointId: string, sealed: string): string {
  return unseal(ring, 'webhook-secret', endpointId, sealed);
}
