// Idempotency-Key around a handler: replay before anything is validated, a claim for the handler to write with its
// effect, and refusals for a state remembered. The rows decide; two calls at once meet in Postgres.
import { DomainError, errorCatalogue } from '../../domain/errors.ts';
import { findIdempotencyKey, freeKey, type IdempotencyRow } from '../../models/idempotency-key.ts';
import type { ReservedOperation } from '../../models/begin-claim.ts';
import type { Answer, OperationDeps } from '../../operations/deps.ts';
import { type IdempotencyClaim, IdempotencyRace } from '../../operations/idempotency.ts';
import { isStored, storeRefusal } from '../../operations/with-idempotency.ts';
import { isMacValid, makeMac } from '../../platform/mac.ts';
import { seal, unseal } from '../../platform/seal.ts';
import { presentError } from '../../presenters/error.ts';
import { canonicalJson, withoutCvc } from '../canonical-json.ts';
import type { AdmittedRequest } from '../route.ts';

const printable = /^[\x20-\x7e]{1,255}$/;

/** @throws DomainError idempotency_key_invalid */
export function readIdempotencyKey(header: string | readonly string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === 'string' && printable.test(header)) return header;
  throw new DomainError('idempotency_key_invalid', 'Idempotency-Key must have 1 to 255 printable ASCII characters.', { param: 'Idempotency-Key' });
}

export interface IdempotentCall {
  readonly key: string;
  readonly method: string;
  /** With /api/v1, without the query. */
  readonly path: string;
  readonly body: unknown;
  /** The effect's own statement finds out whether the key is fresh. */
  readonly isTakenByEffect?: boolean;
}

export interface IdempotentAnswer extends Answer {
  readonly replayed: boolean;
}

/** More lost races than this within one request is a fault, not a race. */
const maxRaces = 3;

/**
 * @param run validates and does the work; it writes the claim together with its effect, or throws IdempotencyRace
 * @throws DomainError idempotency_key_reused, idempotency_in_progress, and what `run` throws
 */
export async function runIdempotently(
  deps: OperationDeps,
  request: AdmittedRequest,
  call: IdempotentCall,
  run: (claim: IdempotencyClaim) => Promise<Answer>,
): Promise<IdempotentAnswer> {
  const text = `${call.method}\n${call.path}\n${canonicalJson(withoutCvc(call.body))}`;
  const context = `${request.merchantId}|${request.mode}|${call.key}`;
  let claim: IdempotencyClaim = {
    key: call.key,
    method: call.method,
    path: call.path,
    fingerprint: makeMac(deps.keyRing, 'idempotency-fingerprint', text),
    seal: (body) => seal(deps.keyRing, 'stored-answer', context, body),
  };
  for (let race = 0; ; race++) {
    if (race === 0 && call.isTakenByEffect === true) {
      try {
        return { ...(await run(claim)), replayed: false };
      } catch (error) {
        // Nothing was written. The key may hold an answer, which comes before any refusal: from here on by the book.
        if (error instanceof IdempotencyRace || error instanceof DomainError) continue;
        throw error;
      }
    }
    const row = await findIdempotencyKey(deps.db, request, call.key);
    if (row !== null && row.expired) await freeKey(deps.db, request, call.key);
    else if (row !== null) {
      if (!isMacValid(deps.keyRing, 'idempotency-fingerprint', text, row.fingerprint)) throw reused(row);
      if (row.status === 'completed') return replay(deps, context, row);
      if (row.leased) throw new DomainError('idempotency_in_progress', 'The first request with this Idempotency-Key is still being worked on.', { retryAfterSeconds: 1 });
      // Its call died: this one takes over, under the fingerprint the row has (its key may be an older one of the ring).
      claim = { ...claim, fingerprint: row.fingerprint, ...('operationId' in row.reserved ? { resumes: row.reserved as ReservedOperation } : {}) };
    }
    try {
      return { ...(await remembered(deps, request, claim, run)), replayed: false };
    } catch (error) {
      if (!(error instanceof IdempotencyRace) || race === maxRaces) throw error;
    }
  }
}

async function remembered(deps: OperationDeps, request: AdmittedRequest, claim: IdempotencyClaim, run: (claim: IdempotencyClaim) => Promise<Answer>): Promise<Answer> {
  try {
    return await run(claim);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const status = errorCatalogue[error.code].status;
    if (!isStored({ status }, error.code)) throw error;
    const answer = { status, body: JSON.stringify(presentError(error, request.requestId)) };
    await storeRefusal(deps, request, claim, answer);
    return answer;
  }
}

function replay(deps: OperationDeps, context: string, row: IdempotencyRow): IdempotentAnswer {
  if (row.responseStatus === null || row.sealedBody === null) throw new Error('a completed idempotency key without an answer');
  return { status: row.responseStatus, body: unseal(deps.keyRing, 'stored-answer', context, row.sealedBody), replayed: true };
}

function reused(row: IdempotencyRow): DomainError {
  return new DomainError('idempotency_key_reused', `This Idempotency-Key was used for another request (${row.method} ${row.path}). Use a new key for each new request.`, {
    param: 'Idempotency-Key',
  });
}
