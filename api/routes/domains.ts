// Hosts a live key may redirect customers to. Specification: Authentication, 4.
import { DomainError } from '../../domain/errors.ts';
import { normaliseHostname } from '../../domain/hostname.ts';
import { deleteDomain, domainKinds, listDomains } from '../../models/domain.ts';
import { registerDomain } from '../../operations/register-domain.ts';
import { withIdempotency } from '../../operations/with-idempotency.ts';
import { jsonAnswer } from '../../presenters/answer.ts';
import { presentDomain } from '../../presenters/domain.ts';
import { type Route, route } from '../route.ts';
import { z } from '../schema/zod.ts';

const tag = 'Domains';
const kind = z.enum(domainKinds);
const hostname = z
  .string()
  .refine((text) => normaliseHostname(text) !== null, {
    message: 'must be a bare host such as shop.example.com: no scheme, port, path or wildcard.',
    params: { code: 'invalid_hostname' },
  })
  .openapi({ minLength: 1, maxLength: 253, example: 'shop.example.com' });
const domain = z
  .object({ hostname: z.string(), kind, mode: z.enum(['test', 'live']), created_at: z.iso.datetime() })
  .openapi('Domain');

export const domainRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/domains',
    tier: 'writes',
    operationId: 'registerDomain',
    summary: 'Register a redirect host',
    description: 'Effective at once. Registering a host again changes its kind.',
    tag,
    body: z.strictObject({ hostname, kind }).openapi('RegisterDomain'),
    responses: { 201: { description: 'The registered host.', schema: domain } },
    foreign: 'none',
    async handler({ deps, request, body, claim }) {
      return withIdempotency(deps.operations, request, claim, async (trx) => {
        const registered = await registerDomain(trx, request, body);
        return { ...jsonAnswer(201, presentDomain(registered)), resourceType: 'domain', resourceId: registered.hostname };
      });
    },
  }),
  route({
    method: 'GET',
    path: '/domains',
    tier: 'writes',
    operationId: 'listDomains',
    summary: 'List redirect hosts',
    tag,
    responses: { 200: { description: 'All of them, by name.', schema: z.object({ data: z.array(domain) }) } },
    foreign: 'empty',
    async handler({ deps, request }) {
      const rows = await listDomains(deps.operations.db, request);
      return jsonAnswer(200, { data: rows.map(presentDomain) });
    },
  }),
  route({
    method: 'DELETE',
    path: '/domains/{hostname}',
    tier: 'writes',
    operationId: 'deleteDomain',
    summary: 'Remove a redirect host',
    tag,
    ids: { hostname: 'text' },
    responses: { 200: { description: 'Removed.', schema: z.object({ ok: z.literal(true) }) } },
    foreign: 'not_found',
    async handler({ deps, request, params }) {
      const hostname = normaliseHostname(params.hostname);
      const removed = hostname !== null && (await deleteDomain(deps.operations.db, request, hostname));
      if (!removed) throw new DomainError('not_found', 'This host is not registered.');
      return jsonAnswer(200, { ok: true });
    },
  }),
];
