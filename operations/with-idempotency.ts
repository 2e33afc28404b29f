// Idempotency for operations that reach no gateway: key, effect and answer commit in one transaction, so there is no moment
// at which one exists without the others. What is stored and what frees the key: see `isStored`.
import type { Knex } from 'knex';
import { DomainError, errorCatalogue } from '../domain/errors.ts';
import type { Scope } from '../domain/mode.ts';
import { completeKey, freeKey, insertCompletedKey, leaseKey, renewLease, reserveKey } from '../models/idempotency-key.ts';
import type { Answer, OperationDeps } from './deps.ts';
import { type IdempotencyClaim, idempotencyRetentionDays, IdempotencyRace, type StoredAnswer } from './idempotency.ts';

/** A call holds its key this long at a time, in milliseconds, and renews it while it waits. */
export const claimLeaseMs = 15_000;
const renewEveryMs = 5_000;

/** Whether an answer is remembered: 2xx but 202, 402, and a 409 that tells of a state. All others free the key. */
export function isStored(answer: { status: number }, code: string | null): boolean {
  if (answer.status >= 200 && answer.status < 300) return answer.status !== 202;
  if (answer.status === 402) return true;
  return answer.status === 409 && code !== 'idempotency_in_progress' && code !== 'payment_outcome_pending';
}

/**
 * Runs `work` in a transaction that also writes the claim and its answer.
 * @throws IdempotencyRace when somebody else took the key meanwhile: nothing was written
 */
export async function withIdempotency(
  deps: Pick<OperationDeps, 'db'>,
  scope: Scope,
  claim: IdempotencyClaim | null,
  work: (trx: Knex.Transaction) => Promise<StoredAnswer>,
): Promise<Answer> {
  const answer = await deps.db.transaction(async (trx) => {
    if (claim !== null && !(await reserveKey(trx, scope, claim, idempotencyRetentionDays))) throw new IdempotencyRace();
    const result = await work(trx);
    if (claim !== null) await completeKey(trx, scope, claim.key, sealed(claim, result));
    return result;
  });
  return { status: answer.status, body: answer.body };
}

/**
 * For commands that wait for a workflow: the key is leased before the work, renewed during it, completed or freed after.
 * @param work told whether an earlier call of the same request died with the key: what it began may be done already
 * @throws IdempotencyRace
 */
export async function withLease(
  deps: Pick<OperationDeps, 'db'>,
  scope: Scope,
  claim: IdempotencyClaim | null,
  work: (resumed: boolean) => Promise<StoredAnswer>,
): Promise<Answer> {
  if (claim === null) return answerOf(await work(false));
  const lease = await leaseKey(deps.db, scope, claim, claimLeaseMs, idempotencyRetentionDays);
  if (lease === null) throw new IdempotencyRace();
  // A renewal that fails is made up by the next one, or the lease runs out and a retry attaches.
  const renewal = setInterval(() => void renewLease(deps.db, scope, claim.key, claimLeaseMs).catch(() => undefined), renewEveryMs);
  renewal.unref();
  try {
    const result = await work(lease.resumed);
    clearInterval(renewal);
    if (isStored(result, null)) await completeKey(deps.db.knex, scope, claim.key, sealed(claim, result));
    else await freeKey(deps.db, scope, claim.key);
    return answerOf(result);
  } catch (error) {
    clearInterval(renewal);
    // A state error is stored by the caller, which knows its body; a fault leaves the lease, so that a retry attaches.
    if (error instanceof DomainError && errorCatalogue[error.code].status < 500) await freeKey(deps.db, scope, claim.key);
    throw error;
  }
}

/** Remembers an answer that changed nothing, a refusal for its state. @throws IdempotencyRace */
export async function storeRefusal(deps: Pick<OperationDeps, 'db'>, scope: Scope, claim: IdempotencyClaim, answer: Answer): Promise<void> {
  const stored = await insertCompletedKey(deps.db.knex, scope, claim, sealed(claim, { ...answer, resourceType: null, resourceId: null }), idempotencyRetentionDays);
  if (!stored) throw new IdempotencyRace();
}

function sealed(claim: IdempotencyClaim, answer: StoredAnswer) {
  return { status: answer.status, sealedBody: claim.seal(answer.body), resourceType: answer.resourceType, resourceId: answer.resourceId };
}

function answerOf(answer: StoredAnswer): Answer {
  return { status: answer.status, body: answer.body };
}
