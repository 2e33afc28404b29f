// Webhook endpoints over the API, their signing secret, and what became of their deliveries. Specification: Events.
import { validationError } from '../../domain/errors.ts';
import { isId } from '../../domain/id.ts';
import { deliveryStatuses, findDelivery, listDeliveries } from '../../models/delivery.ts';
import { listAttempts } from '../../models/delivery-attempt.ts';
import { findEndpoint, listEndpoints, type WebhookEndpoint } from '../../models/webhook-endpoint.ts';
import { prepareEndpoint, writeEndpoint } from '../../operations/create-endpoint.ts';
import { deleteEndpoint } from '../../operations/delete-endpoint.ts';
import { readSecrets } from '../../operations/read-secrets.ts';
import { endpointNotFound, prepareChanges, updateEndpoint } from '../../operations/update-endpoint.ts';
import { withIdempotency } from '../../operations/with-idempotency.ts';
import { jsonAnswer, presentPage } from '../../presenters/answer.ts';
import { presentAttempt, presentDelivery, presentEndpoint, presentNewEndpoint } from '../../presenters/webhook-endpoint.ts';
import type { ApiDeps } from '../deps.ts';
import { type AdmittedRequest, type Route, route } from '../route.ts';
import { pageFields, pageOf } from '../schema/listing.ts';
import { createEndpointBody, delivery, deliveryWithAttempts, endpoint, endpointSecret, newEndpoint, updateEndpointBody } from '../schema/webhook-endpoint.ts';
import { z } from '../schema/zod.ts';

const tag = 'Webhooks';
const ids = { id: ['endpoint', 'automationHook'] } as const;

export const webhookEndpointRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/webhook-endpoints',
    tier: 'writes',
    operationId: 'createWebhookEndpoint',
    summary: 'Register a webhook endpoint',
    description: 'Events are sent from now on, signed with the `secret` of the answer.',
    tag,
    body: createEndpointBody,
    responses: { 201: { description: 'The endpoint with its signing secret.', schema: newEndpoint } },
    errors: ['target_url_not_allowed', 'unsupported_event'],
    foreign: 'none',
    async handler({ deps, request, body, claim }) {
      const input = { url: body.url, description: body.description ?? null, events: body.events ?? (['*'] as const), enabled: body.enabled ?? true };
      const prepared = await prepareEndpoint(deps.operations, request, input);
      return withIdempotency(deps.operations, request, claim, async (trx) => {
        const row = await writeEndpoint(deps.operations, trx, request, prepared);
        return { ...jsonAnswer(201, presentNewEndpoint(row, prepared.secret)), resourceType: 'webhook_endpoint', resourceId: row.id };
      });
    },
  }),
  route({
    method: 'GET',
    path: '/webhook-endpoints',
    tier: 'writes',
    operationId: 'listWebhookEndpoints',
    summary: 'List webhook endpoints',
    tag,
    query: z.object(pageFields),
    responses: { 200: { description: 'Newest first.', schema: pageOf(endpoint) } },
    foreign: 'empty',
    async handler({ deps, request, query }) {
      const { rows, total } = await listEndpoints(deps.operations.db.knex, request, query);
      return jsonAnswer(200, presentPage(rows.map(presentEndpoint), { ...query, total }));
    },
  }),
  route({
    method: 'GET',
    path: '/webhook-endpoints/{id}',
    tier: 'writes',
    operationId: 'retrieveWebhookEndpoint',
    summary: 'Retrieve a webhook endpoint',
    tag,
    ids,
    responses: { 200: { description: 'The endpoint and how it fares.', schema: endpoint } },
    foreign: 'not_found',
    async handler({ deps, request, params }) {
      return jsonAnswer(200, presentEndpoint(await found(deps, request, params.id)));
    },
  }),
  route({
    method: 'PATCH',
    path: '/webhook-endpoints/{id}',
    tier: 'writes',
    operationId: 'updateWebhookEndpoint',
    summary: 'Change a webhook endpoint',
    description: 'Disabling it records waiting deliveries as skipped; enabling it starts with the next event.',
    tag,
    ids,
    body: updateEndpointBody,
    responses: { 200: { description: 'The endpoint after the change.', schema: endpoint } },
    errors: ['target_url_not_allowed', 'unsupported_event'],
    foreign: 'not_found',
    async handler({ deps, request, params, body, claim }) {
      const changes = await prepareChanges(deps.operations, request, params.id, body);
      return withIdempotency(deps.operations, request, claim, async (trx) => {
        const row = await updateEndpoint(trx, request, params.id, changes);
        return { ...jsonAnswer(200, presentEndpoint(row)), resourceType: 'webhook_endpoint', resourceId: row.id };
      });
    },
  }),
  route({
    method: 'DELETE',
    path: '/webhook-endpoints/{id}',
    tier: 'writes',
    operationId: 'deleteWebhookEndpoint',
    summary: 'Delete a webhook endpoint',
    description: 'Waiting deliveries are cancelled.',
    tag,
    ids,
    responses: { 200: { description: 'Deleted.', schema: z.object({ ok: z.literal(true) }) } },
    foreign: 'not_found',
    async handler({ deps, request, params }) {
      await deleteEndpoint(deps.operations, request, params.id);
      return jsonAnswer(200, { ok: true });
    },
  }),
  route({
    method: 'GET',
    path: '/webhook-endpoints/{id}/secret',
    tier: 'writes',
    operationId: 'retrieveWebhookSecret',
    summary: 'Retrieve the signing secret of a webhook endpoint',
    tag,
    ids,
    responses: { 200: { description: 'The secret; the next one too while a rotation is under way.', schema: endpointSecret } },
    foreign: 'not_found',
    async handler({ deps, request, params }) {
      const secrets = readSecrets(deps.operations.keyRing, await found(deps, request, params.id));
      return jsonAnswer(200, { secret: secrets.secret, next_secret: secrets.nextSecret, swaps_at: secrets.swapsAt?.toISOString() ?? null });
    },
  }),
  route({
    method: 'GET',
    path: '/webhook-endpoints/{id}/deliveries',
    tier: 'writes',
    operationId: 'listWebhookDeliveries',
    summary: 'List deliveries to a webhook endpoint',
    tag,
    ids,
    query: z.object({
      limit: pageFields.limit,
      status: z.enum(deliveryStatuses).optional(),
      before: z
        .string()
        .optional()
        .openapi({ description: 'Id of a delivery: only those before it.' }),
    }),
    responses: { 200: { description: 'Newest first.', schema: z.object({ data: z.array(delivery), has_more: z.boolean() }) } },
    foreign: 'not_found',
    async handler({ deps, request, params, query }) {
      const { knex } = deps.operations.db;
      await found(deps, request, params.id);
      const isKnown = query.before === undefined || (isId('delivery', query.before) && (await findDelivery(knex, request, params.id, query.before)) !== null);
      if (!isKnown) throw validationError([{ path: 'before', code: 'unknown_cursor', message: 'before must be the id of a delivery to this endpoint.' }]);
      const rows = await listDeliveries(knex, request, params.id, { ...query, limit: query.limit + 1 });
      return jsonAnswer(200, { data: rows.slice(0, query.limit).map(presentDelivery), has_more: rows.length > query.limit });
    },
  }),
  route({
    method: 'GET',
    path: '/webhook-endpoints/{id}/deliveries/{delivery_id}',
    tier: 'writes',
    operationId: 'retrieveWebhookDelivery',
    summary: 'Retrieve a delivery with its attempts',
    description: 'Each attempt has the status, the headers and the first 10 KB of the answer.',
    tag,
    ids: { ...ids, delivery_id: 'delivery' },
    responses: { 200: { description: 'The delivery.', schema: deliveryWithAttempts } },
    foreign: 'not_found',
    async handler({ deps, request, params }) {
      const { knex } = deps.operations.db;
      const row = await findDelivery(knex, request, params.id, params.delivery_id);
      if (row === null) throw endpointNotFound();
      const attempts = await listAttempts(knex, row.id);
      return jsonAnswer(200, { ...presentDelivery(row), attempts: attempts.map(presentAttempt) });
    },
  }),
];

async function found(deps: ApiDeps, request: AdmittedRequest, id: string): Promise<WebhookEndpoint> {
  const row = await findEndpoint(deps.operations.db.knex, request, id);
  if (row === null) throw endpointNotFound();
  return row;
}
