// The frame of every request that moves money: attach to what the key already stands for, or begin; wait for the workflow
// up to ten seconds; answer from the rows, and store the answer when it is final.
import type { BeginClaim, ReservedOperation } from '../models/begin-claim.ts';
import { abandonedKeys, freeKey, keepAnswer, releaseLease, takeLease } from '../models/idempotency-key.ts';
import { findPaymentOfWorkflow } from '../models/payment-lapse.ts';
import { seal } from '../platform/seal.ts';
import type { Answer, OperationDeps, RequestScope } from './deps.ts';
import { type IdempotencyClaim, idempotencyRetentionDays, IdempotencyRace } from './idempotency.ts';
import { answerOf } from './money-answer.ts';
import { isStored } from './with-idempotency.ts';

/** Milliseconds a caller waits for an outcome. */
export const outcomeWaitMs = 10_000;
/** Longer than the wait, so that nobody takes a key whose call still waits. */
const leaseMs = 15_000;

export interface MoneyDeps extends OperationDeps {
  /** Starts the operation's workflow and waits for it, `waitMs` at most; never throws while Temporal is down. */
  readonly perform: (payment: PerformedPayment, reserved: ReservedOperation, waitMs: number) => Promise<void>;
}

export interface PerformedPayment {
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly mode: 'test' | 'live';
  readonly amount: number;
  readonly currency: string;
}

export interface MoneyRequest extends RequestScope {
  readonly requestId: string;
}

/** The key for the statement that begins the operation. */
export function beginClaim(claim: IdempotencyClaim | null, reserved: ReservedOperation): BeginClaim | null {
  if (claim === null) return null;
  const { key, method, path, fingerprint } = claim;
  return { key, method, path, fingerprint, leaseMs, retentionDays: idempotencyRetentionDays, reserved };
}

/** An operation that was begun, and what its workflow's start takes. */
export interface Begun {
  readonly reserved: ReservedOperation;
  readonly payment: PerformedPayment;
}

/**
 * @param begin writes the operation and takes the key with it; throws IdempotencyRace when the key was taken meanwhile
 * @throws what `begin` throws
 */
export async function carryOut(deps: MoneyDeps, request: MoneyRequest, claim: IdempotencyClaim | null, begin: () => Promise<Begun>): Promise<Answer> {
  if (claim?.resumes !== undefined && !(await takeLease(deps.db, request, claim.key, leaseMs))) throw new IdempotencyRace();
  const { reserved, payment } = claim?.resumes === undefined ? await begin() : await begunBefore(deps, claim.resumes);
  await deps.perform(payment, reserved, outcomeWaitMs);
  const answer = await answerOf(deps, request, reserved);
  if (claim !== null) await keep(deps, { ...request, key: claim.key }, reserved, answer);
  return answer;
}

/** An operation that an earlier call began. */
export async function begunBefore(deps: OperationDeps, reserved: ReservedOperation): Promise<Begun> {
  const payment = await findPaymentOfWorkflow(deps.db, reserved.transactionId);
  if (payment === null) throw new Error(`no payment ${reserved.transactionId}`);
  return { reserved, payment };
}

/** The sweep's part: answers of operations whose callers no longer wait, so that no key stays in progress. */
export async function finishAbandonedKeys(deps: OperationDeps, limit: number): Promise<number> {
  let finished = 0;
  for (const row of await abandonedKeys(deps.db, limit)) {
    const answer = await answerOf(deps, row, row.reserved);
    if (answer.status === 202) continue;
    await keep(deps, row, row.reserved, answer);
    finished++;
  }
  return finished;
}

async function keep(deps: OperationDeps, key: { merchantId: string; mode: 'test' | 'live'; key: string }, reserved: ReservedOperation, answer: Answer): Promise<void> {
  if (answer.status === 202) return releaseLease(deps.db, key, key.key);
  if (!isStored(answer, null)) return freeKey(deps.db, key, key.key);
  const isRefund = reserved.kind === 'refund';
  await keepAnswer(deps.db, key, key.key, {
    status: answer.status,
    sealedBody: seal(deps.keyRing, 'stored-answer', `${key.merchantId}|${key.mode}|${key.key}`, answer.body),
    resourceType: isRefund ? 'refund' : 'payment',
    resourceId: isRefund ? reserved.operationId : reserved.transactionId,
  });
}
