// Registers a host that customers may be redirected to; effective at once, no DNS check. Specification: Authentication, 4.
import type { Knex } from 'knex';
import { validationError } from '../domain/errors.ts';
import type { Scope } from '../domain/mode.ts';
import { normaliseHostname } from '../domain/hostname.ts';
import { type Domain, type DomainKind, upsertDomain } from '../models/domain.ts';

/**
 * @param knex a transaction, or `db.knex`
 * @param input hostname as typed: it is stored in lower case and punycode
 * @throws DomainError validation_failed when it is not a bare hostname
 */
export async function registerDomain(knex: Knex, scope: Scope, input: { hostname: string; kind: DomainKind }): Promise<Domain> {
  const hostname = normaliseHostname(input.hostname);
  if (hostname === null) {
    throw validationError([{ path: 'hostname', code: 'invalid_hostname', message: 'hostname must be a bare host such as shop.example.com: no scheme, port, path or wildcard.' }]);
  }
  return upsertDomain(knex, scope, { hostname, kind: input.kind });
}
