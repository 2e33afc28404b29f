// GET /idempotency-keys/{key}: what became of a request whose answer was lost.
import { DomainError } from '../../domain/errors.ts';
import { findIdempotencyKey } from '../../models/idempotency-key.ts';
import { jsonAnswer } from '../../presenters/answer.ts';
import { presentIdempotencyKey } from '../../presenters/idempotency-key.ts';
import { type Route, route } from '../route.ts';
import { z } from '../schema/zod.ts';

const idempotencyKey = z
  .object({
    key: z.string(),
    method: z.string(),
    path: z.string(),
    status: z.enum(['in_progress', 'completed']),
    response_status: z.int().nullable(),
    resource: z.object({ type: z.string(), id: z.string() }).nullable(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
  })
  .openapi('IdempotencyKey');

export const idempotencyKeyRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/idempotency-keys/{key}',
    tier: 'writes',
    operationId: 'retrieveIdempotencyKey',
    summary: 'What became of a request with this Idempotency-Key',
    tag: 'Account',
    ids: { key: 'text' },
    responses: { 200: { description: 'The remembered request.', schema: idempotencyKey } },
    foreign: 'not_found',
    async handler({ deps, request, params }) {
      const row = await findIdempotencyKey(deps.operations.db, request, params.key);
      if (row === null || row.expired) throw new DomainError('not_found', 'Nothing is remembered for this Idempotency-Key.');
      return jsonAnswer(200, presentIdempotencyKey(row));
    },
  }),
];
