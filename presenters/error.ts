// The error body. `error` stays a string, because the 429 body fixes it so. Specification: Errors.
import { type DomainError, errorCatalogue } from '../domain/errors.ts';

export function presentError(error: DomainError, requestId: string): object {
  const { detail } = error;
  return {
    error: error.message,
    code: error.code,
    type: errorCatalogue[error.code].type,
    ...(detail.param === undefined || detail.param === '' ? {} : { param: detail.param }),
    ...(detail.errors === undefined ? {} : { errors: detail.errors }),
    ...(detail.declineCode === undefined ? {} : { decline_code: detail.declineCode }),
    ...(detail.paymentId === undefined ? {} : { payment_id: detail.paymentId }),
    ...(detail.currentStatus === undefined ? {} : { current_status: detail.currentStatus }),
    ...(detail.checkoutUrl === undefined ? {} : { checkout_url: detail.checkoutUrl }),
    request_id: requestId,
  };
}

/** Exactly these two fields. */
export function presentRateLimit(retryAfterSeconds: number): object {
  return { error: `Too many requests. Try again in ${retryAfterSeconds} s.`, retry_after: retryAfterSeconds };
}
