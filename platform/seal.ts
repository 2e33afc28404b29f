// Encryption at rest: AES-256-GCM under a derived key. A sealed text names its key and is bound to its context (the row
// it belongs to), so that it cannot be moved to another row unnoticed.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { KeyPurpose, KeyRing } from './key-ring.ts';

/** @returns `s1.{key id}.{base64url of iv, ciphertext and tag}` */
export function seal(ring: KeyRing, purpose: KeyPurpose, context: string, clear: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', ring.current.derive(purpose), iv);
  cipher.setAAD(Buffer.from(context));
  const body = Buffer.concat([iv, cipher.update(clear, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `s1.${ring.current.id}.${body.toString('base64url')}`;
}

/** @throws Error when the key is not in the ring, the context differs or the text was altered. */
export function unseal(ring: KeyRing, purpose: KeyPurpose, context: string, sealed: string): string {
  const [version, keyId, text] = sealed.split('.');
  const key = version === 's1' && keyId !== undefined ? ring.find(keyId) : undefined;
  if (key === undefined || text === undefined) throw new Error(`sealed ${purpose} cannot be opened: unknown key`);
  const body = Buffer.from(text, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key.derive(purpose), body.subarray(0, 12));
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(body.subarray(-16));
  return Buffer.concat([decipher.update(body.subarray(12, -16)), decipher.final()]).toString('utf8');
}
