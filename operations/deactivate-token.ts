// Deactivates a saved card, for good. Always allowed; doing it again changes nothing. Specification: Payment token.
import type { Knex } from 'knex';
import { DomainError } from '../domain/errors.ts';
import type { Scope } from '../domain/mode.ts';
import { deactivateTokenRow, type TokenRow } from '../models/payment-token.ts';

/** @throws DomainError not_found */
export async function deactivateToken(trx: Knex.Transaction, scope: Scope, id: string): Promise<TokenRow> {
  const token = await deactivateTokenRow(trx, scope, id);
  if (token === null) throw tokenNotFound();
  return token;
}

export function tokenNotFound(): DomainError {
  return new DomainError('not_found', 'There is no such saved card.');
}
