// The OpenAPI 3.1 document, drawn from the routes table and the error catalogue. Adds nothing of its own to the contract.
import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import { errorCatalogue, type ErrorCode, errorTypes } from '../domain/errors.ts';
import { eventNames } from '../domain/event.ts';
import { idPrefixes, type IdKind } from '../domain/id.ts';
import type { Route } from './route.ts';
import { z } from './schema/zod.ts';

const codes = Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]];

const fieldError = z.object({ path: z.string(), code: z.string(), message: z.string() }).openapi('FieldError');
const errorBody = z
  .object({
    error: z.string().openapi({ description: 'What went wrong and what to do.' }),
    code: z.enum(codes),
    type: z.enum(errorTypes),
    param: z.string().optional(),
    errors: z.array(fieldError).optional(),
    decline_code: z.string().optional(),
    payment_id: z.string().optional(),
    current_status: z.string().optional(),
    checkout_url: z.string().optional(),
    request_id: z.string(),
  })
  .openapi('Error');
const rateLimitBody = z.object({ error: z.string(), retry_after: z.int().min(1) }).openapi('RateLimitError');
const envelope = z
  .object({
    id: z.string(),
    event: z.enum(eventNames),
    version: z.literal(3),
    mode: z.enum(['test', 'live']),
    created_at: z.iso.datetime(),
    sequence: z.int().min(1),
    resource: z.object({ type: z.string(), id: z.string() }),
    data: z.record(z.string(), z.unknown()),
  })
  .openapi('WebhookEvent');

const tagDescriptions: Readonly<Record<string, string>> = {
  'Checkout sessions': 'One payment each, made by the customer on a hosted page.',
  Webhooks: 'Where events are sent, and what became of them.',
  Domains: 'Hosts that customers of a live key may be redirected to.',
  Account: 'The key, its merchant, and what is remembered of requests.',
};

/** What every route with a key can answer besides its own errors. */
const everywhere: readonly ErrorCode[] = ['invalid_api_key', 'internal_error', 'service_unavailable'];
const withBody: readonly ErrorCode[] = [
  'malformed_json',
  'unsupported_media_type',
  'idempotency_key_invalid',
  'idempotency_in_progress',
  'payload_too_large',
  'validation_failed',
  'idempotency_key_reused',
];

const rateHeaders = z.object({
  'X-RateLimit-Limit': z.string().openapi({ description: 'Most calls of this tier in any 60 seconds.' }),
  'X-RateLimit-Remaining': z.string(),
  'X-Request-Id': z.string(),
});
const idempotencyHeader = z.object({
  'Idempotency-Key': z.string().min(1).max(255).optional().openapi({ description: 'Makes a retry safe: the same key with the same request gets the same answer for 30 days.' }),
});

export function buildOpenApi(routes: readonly Route[], publicUrl: string): object {
  const registry = new OpenAPIRegistry();
  const bearer = registry.registerComponent('securitySchemes', 'apiKey', { type: 'http', scheme: 'bearer', description: 'svc_test_… or svc_live_…' });
  for (const route of routes) {
    const isPublic = route.tier === 'public-reads' || route.tier === 'public-posts';
    registry.registerPath({
      method: route.method.toLowerCase() as 'get',
      path: route.path,
      operationId: route.operationId,
      summary: route.summary,
      ...(route.description === undefined ? {} : { description: route.description }),
      tags: [route.tag],
      security: isPublic ? [] : [{ [bearer.name]: [] }],
      request: {
        ...(Object.keys(route.ids).length === 0 ? {} : { params: paramsOf(route) }),
        ...(route.query === undefined ? {} : { query: route.query as z.ZodObject }),
        ...(route.idempotent && !isPublic ? { headers: idempotencyHeader } : {}),
        ...(route.body === undefined ? {} : { body: { content: { 'application/json': { schema: route.body } }, required: !route.body.safeParse({}).success } }),
      },
      responses: { ...successesOf(route), ...errorsOf(route, isPublic) },
    });
  }
  registry.registerWebhook({
    method: 'post',
    path: 'event',
    operationId: 'receiveEvent',
    summary: 'An event, sent to your endpoint',
    description: 'Signed: X-SVC-Signature is the hex HMAC-SHA256 of `{X-SVC-Timestamp}.{body}` under the endpoint\'s secret. Refuse timestamps more than five minutes away.',
    tags: ['Webhooks'],
    security: [],
    request: { body: { content: { 'application/json': { schema: envelope } }, required: true } },
    responses: { 200: { description: 'Any 2xx: received.' }, 400: { description: 'Anything else: sent again later.' } },
  });
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Payment checkout service',
      version: '1.0.0',
      description: 'Hosted checkout sessions, signed webhooks. Amounts are integers in the smallest unit of their currency; times are ISO 8601 UTC.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${publicUrl}/api/v1` }],
    tags: [...new Set([...routes.map((route) => route.tag), 'Webhooks'])].map((name) => ({ name, ...(tagDescriptions[name] === undefined ? {} : { description: tagDescriptions[name] }) })),
  });
}

function paramsOf(route: Route) {
  const fields = Object.entries(route.ids).map(([name, kind]) => {
    if (kind === 'text') return [name, z.string()];
    const kinds: readonly IdKind[] = typeof kind === 'string' ? [kind] : kind;
    return [name, z.string().openapi({ pattern: `^(${kinds.map((one) => idPrefixes[one]).join('|')})_[0-9a-hjkmnp-tv-z]{26}$` })];
  });
  return z.object(Object.fromEntries(fields) as Record<string, z.ZodString>);
}

function successesOf(route: Route) {
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, response]) => [
      status,
      {
        description: response.description,
        headers: rateHeaders,
        ...(response.schema === undefined ? {} : { content: { 'application/json': { schema: response.schema } } }),
      },
    ]),
  );
}

function errorsOf(route: Route, isPublic: boolean) {
  const possible = new Set<ErrorCode>([
    ...everywhere.filter((code) => !isPublic || code !== 'invalid_api_key'),
    ...(route.idempotent ? withBody : []),
    ...(route.query === undefined ? [] : (['validation_failed'] as const)),
    ...(Object.keys(route.ids).length === 0 ? [] : (['not_found'] as const)),
    ...route.errors,
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of possible) byStatus.set(errorCatalogue[code].status, [...(byStatus.get(errorCatalogue[code].status) ?? []), code]);
  const responses: Record<string, object> = { 429: { description: 'Too many requests; `retry_after` equals the Retry-After header.', content: { 'application/json': { schema: rateLimitBody } } } };
  for (const [status, list] of byStatus) {
    responses[status] = { description: `One of: ${list.join(', ')}.`, content: { 'application/json': { schema: errorBody } } };
  }
  return responses as Record<string, { description: string }>;
}
