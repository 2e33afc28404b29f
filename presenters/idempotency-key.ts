// What is remembered of a request with an Idempotency-Key. The stored answer itself is only ever replayed.
import type { IdempotencyRow } from '../models/idempotency-key.ts';

export function presentIdempotencyKey(row: IdempotencyRow) {
  return {
    key: row.key,
    method: row.method,
    path: row.path,
    status: row.status,
    response_status: row.responseStatus,
    resource: row.resourceType === null || row.resourceId === null ? null : { type: row.resourceType, id: row.resourceId },
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  };
}
