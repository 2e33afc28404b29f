// Lets a merchant send card data itself with live keys, or no longer: an operator's decision, since it puts the merchant's
// own servers in the scope of PCI DSS.
import { DomainError } from '../domain/errors.ts';
import { setDirectCardLive } from '../models/merchant.ts';
import type { OperationDeps } from './deps.ts';

/** @throws DomainError not_found */
export async function allowDirectCards(deps: Pick<OperationDeps, 'db'>, merchantId: string, allowed: boolean): Promise<void> {
  if (!(await setDirectCardLive(deps.db.knex, merchantId, allowed))) throw new DomainError('not_found', `There is no merchant ${merchantId}.`);
}
