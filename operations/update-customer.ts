// Changes a customer. A default card has to be an active one of this customer. Specification: Customer.
import type { Knex } from 'knex';
import { DomainError } from '../domain/errors.ts';
import { type CustomerChange, type CustomerRow, readCustomer, updateCustomerRow } from '../models/customer.ts';
import { readToken } from '../models/payment-token.ts';
import { customerExists } from './create-customer.ts';
import type { RequestScope } from './deps.ts';

/** @param trx a transaction, which is lost when this throws. @throws DomainError not_found, customer_exists, token_not_found, token_inactive */
export async function updateCustomer(trx: Knex.Transaction, request: RequestScope, id: string, change: CustomerChange): Promise<CustomerRow> {
  const outcome = await updateCustomerRow(trx, request, id, change, request.now);
  if (outcome === 'absent') throw customerNotFound();
  if (outcome === 'taken') throw customerExists();
  if (typeof change.defaultTokenId === 'string') await checkToken(trx, request, id, change.defaultTokenId);
  return readCustomer(trx, request, id);
}

export function customerNotFound(): DomainError {
  return new DomainError('not_found', 'There is no such customer.');
}

async function checkToken(trx: Knex.Transaction, request: RequestScope, customerId: string, tokenId: string): Promise<void> {
  const token = await readToken(trx, request, tokenId);
  if (token === null || token.customerId !== customerId) throw new DomainError('token_not_found', 'This customer has no such saved card.', { param: 'default_token_id' });
  if (token.status !== 'active') throw new DomainError('token_inactive', 'This saved card was deactivated.', { param: 'default_token_id' });
}
