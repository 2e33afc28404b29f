// Webhook endpoints and their deliveries as they leave the building. The signing secret is not part of an endpoint: it is
// added by the two answers that may carry it.
import { warnAfterFailures } from '../domain/delivery-schedule.ts';
import type { Delivery } from '../models/delivery.ts';
import type { DeliveryAttempt } from '../models/delivery-attempt.ts';
import type { WebhookEndpoint } from '../models/webhook-endpoint.ts';

export function presentEndpoint(row: WebhookEndpoint): object {
  return {
    id: row.id,
    kind: row.kind,
    url: row.url,
    description: row.description,
    events: row.events,
    enabled: row.enabled,
    status: row.enabled ? 'enabled' : 'disabled',
    disabled_reason: row.disabledReason,
    disabled_at: iso(row.disabledAt),
    mode: row.mode,
    health: {
      state: healthState(row),
      failing_since: iso(row.failingSince),
      consecutive_failures: row.consecutiveFailures,
      last_success_at: iso(row.lastSuccessAt),
      last_failure_at: iso(row.lastFailureAt),
    },
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** The answer to creating one, with the secret. */
export function presentNewEndpoint(row: WebhookEndpoint, secret: string): object {
  return { ...presentEndpoint(row), secret };
}

/** @param row with the type of its event */
export function presentDelivery(row: Delivery & { eventType: string }): object {
  return {
    id: row.id,
    event_id: row.eventId,
    event: row.eventType,
    endpoint_id: row.endpointId,
    status: row.status,
    attempts_count: row.attemptCount,
    next_attempt_at: row.status === 'retrying' || row.status === 'pending' ? iso(row.dueAt) : null,
    last_status_code: row.lastStatusCode,
    last_error: row.lastError,
    created_at: row.createdAt.toISOString(),
    delivered_at: iso(row.deliveredAt),
  };
}

export function presentAttempt(row: DeliveryAttempt): object {
  return {
    n: row.n,
    round: row.round,
    started_at: row.startedAt.toISOString(),
    duration_ms: row.durationMs,
    status_code: row.statusCode,
    response_headers: row.responseHeaders,
    response_body: row.responseBody,
    error: row.error,
    error_stage: row.errorStage,
  };
}

export const healthStates = ['unknown', 'healthy', 'unsteady', 'failing'] as const;

function healthState(row: WebhookEndpoint): (typeof healthStates)[number] {
  if (row.consecutiveFailures >= warnAfterFailures) return 'failing';
  if (row.consecutiveFailures > 0) return 'unsteady';
  return row.lastSuccessAt === null ? 'unknown' : 'healthy';
}

function iso(at: Date | null): string | null {
  return at === null ? null : at.toISOString();
}
