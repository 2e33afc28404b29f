// GET /me: whose key this is.
import { DomainError } from '../../domain/errors.ts';
import { findOwnKey } from '../../models/api-key.ts';
import { jsonAnswer } from '../../presenters/answer.ts';
import { presentMe } from '../../presenters/me.ts';
import { type Route, route } from '../route.ts';
import { z } from '../schema/zod.ts';

const me = z
  .object({
    merchant: z.object({ id: z.string(), name: z.string() }),
    mode: z.enum(['test', 'live']),
    key: z.object({ id: z.string(), prefix: z.string(), last4: z.string() }),
  })
  .openapi('Me');

export const meRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/me',
    tier: 'writes',
    operationId: 'retrieveMe',
    summary: 'Whose key this is',
    description: 'A cheap way to test a key.',
    tag: 'Account',
    responses: { 200: { description: 'Merchant, mode and key.', schema: me } },
    foreign: 'none',
    async handler({ deps, request }) {
      const row = await findOwnKey(deps.operations.db, request, request.keyId);
      if (row === null) throw new DomainError('not_found', 'This key is gone.');
      return jsonAnswer(200, presentMe(row, request.mode));
    },
  }),
];
