// From anything thrown to an answer. The caller's mistakes say what was wrong; faults say nothing of their inside and are
// logged once, with the request id.
import { DomainError, type ErrorCode, errorCatalogue } from '../../domain/errors.ts';
import { isUnavailable } from '../../models/database.ts';
import { presentError, presentRateLimit } from '../../presenters/error.ts';

/** Refused by a rolling window: the 429, whose body is fixed by the specification. */
export class RateLimited extends Error {
  override readonly name = 'RateLimited';
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number) {
    super('rate limit exceeded');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface ErrorAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** For the request log. */
  readonly code: string;
  /** Whether it is our fault: logged by the caller. */
  readonly isFault: boolean;
}

const unavailableRetrySeconds = 1;

export function answerError(error: unknown, requestId: string): ErrorAnswer {
  if (error instanceof RateLimited) {
    const seconds = error.retryAfterSeconds;
    return { status: 429, body: JSON.stringify(presentRateLimit(seconds)), headers: { 'Retry-After': String(seconds) }, code: 'rate_limited', isFault: false };
  }
  if (error instanceof DomainError) return answerDomainError(error, requestId, errorCatalogue[error.code].status >= 500);
  if (isUnavailable(error)) {
    const message = 'The service cannot answer just now; nothing is known to have been done. Try again with the same Idempotency-Key.';
    return answerDomainError(new DomainError('service_unavailable', message, { retryAfterSeconds: unavailableRetrySeconds }), requestId, true);
  }
  return answerDomainError(new DomainError('internal_error', 'Something went wrong on our side. Quote the request id when asking about it.'), requestId, true);
}

function answerDomainError(error: DomainError, requestId: string, isFault: boolean): ErrorAnswer {
  const retryAfter = error.detail.retryAfterSeconds ?? retryAfterByDefault[error.code];
  return {
    status: errorCatalogue[error.code].status,
    body: JSON.stringify(presentError(error, requestId)),
    headers: {
      ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
      ...(error.code === 'invalid_api_key' ? { 'WWW-Authenticate': 'Bearer' } : {}),
    },
    code: error.code,
    isFault,
  };
}

const retryAfterByDefault: Partial<Record<ErrorCode, number>> = { service_unavailable: unavailableRetrySeconds, idempotency_in_progress: 1 };
