// Creates a customer. The merchant's own id is unique; the unique index decides between two at once. Specification: Customer.
import type { Knex } from 'knex';
import { DomainError } from '../domain/errors.ts';
import type { Scope } from '../domain/mode.ts';
import { type CustomerRow, insertCustomer, type NewCustomer, readCustomer } from '../models/customer.ts';
import type { OperationDeps } from './deps.ts';

/** @param trx a transaction, which is lost when this throws. @throws DomainError customer_exists */
export async function createCustomer(deps: Pick<OperationDeps, 'newId'>, trx: Knex.Transaction, scope: Scope, input: Omit<NewCustomer, 'id'>): Promise<CustomerRow> {
  const id = deps.newId('customer');
  if (!(await insertCustomer(trx, scope, { ...input, id }))) throw customerExists();
  return readCustomer(trx, scope, id);
}

export function customerExists(): DomainError {
  return new DomainError('customer_exists', 'There is already a customer with this external_customer_id.', { param: 'external_customer_id' });
}
