// The error catalogue: every code that can leave the building, with its status and type. Adding a code here adds it to
// the OpenAPI document; a code that is not here does not compile.

export const errorTypes = ['invalid_request', 'authentication', 'card', 'conflict', 'not_found', 'rate_limit', 'gateway', 'internal'] as const;
export type ErrorType = (typeof errorTypes)[number];

export const errorCatalogue = {
  malformed_json: { status: 400, type: 'invalid_request' },
  malformed_request: { status: 400, type: 'invalid_request' },
  unsupported_media_type: { status: 400, type: 'invalid_request' },
  idempotency_key_invalid: { status: 400, type: 'invalid_request' },
  invalid_api_key: { status: 401, type: 'authentication' },
  card_declined: { status: 402, type: 'card' },
  authentication_required: { status: 402, type: 'card' },
  not_found: { status: 404, type: 'not_found' },
  request_timeout: { status: 408, type: 'invalid_request' },
  session_not_open: { status: 409, type: 'conflict' },
  payment_not_capturable: { status: 409, type: 'conflict' },
  payment_not_voidable: { status: 409, type: 'conflict' },
  payment_not_refundable: { status: 409, type: 'conflict' },
  payment_outcome_pending: { status: 409, type: 'conflict' },
  subscription_state_invalid: { status: 409, type: 'conflict' },
  refund_limit_reached: { status: 409, type: 'conflict' },
  customer_exists: { status: 409, type: 'conflict' },
  idempotency_in_progress: { status: 409, type: 'conflict' },
  payment_link_inactive: { status: 410, type: 'conflict' },
  payload_too_large: { status: 413, type: 'invalid_request' },
  validation_failed: { status: 422, type: 'invalid_request' },
  amount_out_of_range: { status: 422, type: 'invalid_request' },
  currency_not_supported: { status: 422, type: 'invalid_request' },
  redirect_host_not_registered: { status: 422, type: 'invalid_request' },
  unsupported_event: { status: 422, type: 'invalid_request' },
  target_url_not_allowed: { status: 422, type: 'invalid_request' },
  token_not_found: { status: 422, type: 'invalid_request' },
  token_inactive: { status: 422, type: 'invalid_request' },
  token_gateway_mismatch: { status: 422, type: 'invalid_request' },
  customer_not_found: { status: 422, type: 'invalid_request' },
  gateway_not_found: { status: 422, type: 'invalid_request' },
  refund_exceeds_remaining: { status: 422, type: 'invalid_request' },
  capture_exceeds_authorized: { status: 422, type: 'invalid_request' },
  idempotency_key_reused: { status: 422, type: 'invalid_request' },
  direct_card_not_allowed: { status: 422, type: 'invalid_request' },
  test_clock_not_found: { status: 422, type: 'invalid_request' },
  headers_too_large: { status: 431, type: 'invalid_request' },
  internal_error: { status: 500, type: 'internal' },
  gateway_unavailable: { status: 502, type: 'gateway' },
  service_unavailable: { status: 503, type: 'internal' },
} as const satisfies Record<string, { status: number; type: ErrorType }>;
export type ErrorCode = keyof typeof errorCatalogue;

/** One bad field; `path` like `line_items[0].quantity`. */
export interface FieldError {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

export interface ErrorDetail {
  readonly param?: string;
  readonly errors?: readonly FieldError[];
  readonly declineCode?: string;
  readonly paymentId?: string;
  readonly currentStatus?: string;
  readonly checkoutUrl?: string;
  /** Seconds for the Retry-After header. */
  readonly retryAfterSeconds?: number;
}

/** The caller's fault, or a state that forbids what was asked: answered with its code, never retried by us. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;
  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message);
    this.code = code;
    this.detail = detail;
  }
}

/** Errors of bad fields: a single one with a code of its own puts that code on top (else `validation_failed`). */
export function validationError(errors: readonly FieldError[]): DomainError {
  const [only] = errors;
  if (errors.length === 1 && only !== undefined && isErrorCode(only.code) && only.code !== 'validation_failed') {
    return new DomainError(only.code, only.message, { param: only.path, errors });
  }
  // The body itself has no name of its own.
  const fields = errors.map((e) => (e.path === '' ? 'the body' : e.path)).join(', ');
  return new DomainError('validation_failed', `The request has invalid fields: ${fields}. See errors for each of them.`, {
    ...(only === undefined ? {} : { param: only.path }),
    errors,
  });
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}
