// The master keys and what is derived from them (HKDF-SHA256, one purpose one key). The first key signs and encrypts, all
// of them verify and decrypt, so a key can be rolled without breaking a link or losing a secret.
import { createHash, hkdfSync } from 'node:crypto';

export const keyPurposes = ['checkout-url', 'idempotency-fingerprint', 'stored-answer', 'gateway-token', 'webhook-secret', 'pii-answer', 'card-fingerprint', 'page-form'] as const;
export type KeyPurpose = (typeof keyPurposes)[number];

export interface MasterKey {
  /** Eight hex digits naming the key inside macs and ciphertexts; reveals nothing of it. */
  readonly id: string;
  derive(purpose: KeyPurpose): Buffer;
}

export interface KeyRing {
  readonly current: MasterKey;
  find(id: string): MasterKey | undefined;
  readonly all: readonly MasterKey[];
}

/** @param secrets master keys, newest first, each at least 32 characters. @throws RangeError when none is given. */
export function createKeyRing(secrets: readonly string[]): KeyRing {
  const all = secrets.map(createMasterKey);
  const [current] = all;
  if (current === undefined) throw new RangeError('at least one master key is needed');
  const byId = new Map(all.map((key) => [key.id, key]));
  return { current, all, find: (id) => byId.get(id) };
}

function createMasterKey(secret: string): MasterKey {
  const derived = new Map<KeyPurpose, Buffer>();
  return {
    id: createHash('sha256').update(`key-id:${secret}`).digest('hex').slice(0, 8),
    derive(purpose) {
      let key = derived.get(purpose);
      if (key === undefined) {
        key = Buffer.from(hkdfSync('sha256', secret, 'payment-checkout-service', purpose, 32));
        derived.set(purpose, key);
      }
      return key;
    },
  };
}
