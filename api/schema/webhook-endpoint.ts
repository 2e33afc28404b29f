// Bodies and answers of the webhook routes. Which addresses may be sent to is judged by the operation, not here.
import { eventNames, type EventName } from '../../domain/event.ts';
import { deliveryStatuses } from '../../models/delivery.ts';
import { healthStates } from '../../presenters/webhook-endpoint.ts';
import { text } from './fields.ts';
import { z } from './zod.ts';

/** `endpoint.test` is sent on request, never subscribed to. */
export const subscribableEvents: readonly EventName[] = eventNames.filter((name) => name !== 'endpoint.test');

const names: ReadonlySet<string> = new Set(['*', ...subscribableEvents]);

const eventFilter = z
  .custom<EventName | '*'>((value) => typeof value === 'string', { message: 'must be a string.', params: { code: 'wrong_type' }, abort: true })
  .refine((name) => names.has(name), {
    message: `is not an event that can be sent. Give "*" for all, or: ${subscribableEvents.join(', ')}.`,
    params: { code: 'unsupported_event' },
  })
  .openapi({ type: 'string', enum: ['*', ...subscribableEvents] });

const events = z.array(eventFilter).min(1).max(subscribableEvents.length + 1).openapi({ description: '`["*"]` for all.' });
// Length, syntax and address are one question with one code, so the operation answers it.
const url = z.string().openapi({ format: 'uri', maxLength: 2048, description: 'https, on public internet addresses.', example: 'https://shop.example.com/webhooks' });
const description = text(0, 500).nullable();

export const createEndpointBody = z
  .strictObject({ url, description: description.optional(), events: events.optional(), enabled: z.boolean().optional() })
  .openapi('CreateWebhookEndpoint');

export const updateEndpointBody = z
  .strictObject({ url: url.optional(), description: description.optional(), events: events.optional(), enabled: z.boolean().optional() })
  .openapi('UpdateWebhookEndpoint');

const at = z.iso.datetime();
const atOrNull = at.nullable();

export const endpoint = z
  .object({
    id: z.string(),
    kind: z.enum(['endpoint', 'automation']),
    url: z.string(),
    description: z.string().nullable(),
    events: z.array(z.string()),
    enabled: z.boolean(),
    status: z.enum(['enabled', 'disabled']),
    disabled_reason: z.enum(['merchant', 'gone', 'failing']).nullable(),
    disabled_at: atOrNull,
    mode: z.enum(['test', 'live']),
    health: z.object({
      state: z.enum(healthStates),
      failing_since: atOrNull,
      consecutive_failures: z.int(),
      last_success_at: atOrNull,
      last_failure_at: atOrNull,
    }),
    created_at: at,
    updated_at: at,
  })
  .openapi('WebhookEndpoint');

export const newEndpoint = endpoint.extend({ secret: z.string() }).openapi('NewWebhookEndpoint');

export const endpointSecret = z
  .object({ secret: z.string(), next_secret: z.string().nullable(), swaps_at: atOrNull })
  .openapi('WebhookSecret');

export const delivery = z
  .object({
    id: z.string(),
    event_id: z.string(),
    event: z.string(),
    endpoint_id: z.string(),
    status: z.enum(deliveryStatuses),
    attempts_count: z.int(),
    next_attempt_at: atOrNull,
    last_status_code: z.int().nullable(),
    last_error: z.string().nullable(),
    created_at: at,
    delivered_at: atOrNull,
  })
  .openapi('WebhookDelivery');

export const deliveryWithAttempts = delivery
  .extend({
    attempts: z.array(
      z.object({
        n: z.int(),
        round: z.int(),
        started_at: at,
        duration_ms: z.int().nullable(),
        status_code: z.int().nullable(),
        response_headers: z.record(z.string(), z.string()).nullable(),
        response_body: z.string().nullable(),
        error: z.string().nullable(),
        error_stage: z.string().nullable(),
      }),
    ),
  })
  .openapi('WebhookDeliveryWithAttempts');
