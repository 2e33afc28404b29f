// An idempotency key on its way into the statement that writes the effect, so that key, effect and answer commit together.
import type { ReservedOperation } from '../models/begin-claim.ts';
import type { StoredClaim } from '../models/completed-claim.ts';
import type { Answer } from './deps.ts';

/** Days an idempotency key and its answer are remembered. */
export const idempotencyRetentionDays = 30;

export interface IdempotencyClaim {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  /** Keyed hash of the request; equal only for the same request. */
  readonly fingerprint: string;
  /** Encrypts an answer's body for storage. */
  readonly seal: (body: string) => string;
  /** The operation an earlier call of the same request began and nobody waits for: attach to it, begin nothing. */
  readonly resumes?: ReservedOperation;
}

/** The key was taken by another request between the look-up and the write; nothing was written. Look it up again. */
export class IdempotencyRace extends Error {
  override readonly name = 'IdempotencyRace';
}

/** What the settled operation stores for its key. */
export interface StoredAnswer extends Answer {
  readonly resourceType: string | null;
  readonly resourceId: string | null;
}

/** The claim with its answer sealed, for the statement that writes both and the effect. */
export function storedClaim(claim: IdempotencyClaim | null, answer: Answer): StoredClaim | null {
  if (claim === null) return null;
  const { key, method, path, fingerprint } = claim;
  return { key, method, path, fingerprint, responseStatus: answer.status, sealedBody: claim.seal(answer.body), retentionDays: idempotencyRetentionDays };
}
