// Sets up a merchant: both modes with the default currencies, and one key for each.
import { defaultCurrencies } from '../domain/currency.ts';
import { modes } from '../domain/mode.ts';
import { insertMerchant } from '../models/merchant.ts';
import { addKey, type CreatedKey } from './create-key.ts';
import type { OperationDeps } from './deps.ts';

export interface CreatedMerchant {
  readonly merchantId: string;
  readonly test: CreatedKey;
  readonly live: CreatedKey;
}

/** @param input name of 1 to 250 characters */
export async function createMerchant(deps: Pick<OperationDeps, 'db' | 'newId'>, input: { name: string }): Promise<CreatedMerchant> {
  const merchantId = deps.newId('merchant');
  return deps.db.transaction(async (trx) => {
    await insertMerchant(trx, { id: merchantId, name: input.name, currencies: defaultCurrencies, modes });
    return {
      merchantId,
      test: await addKey(trx, deps.newId, { merchantId, mode: 'test' }),
      live: await addKey(trx, deps.newId, { merchantId, mode: 'live' }),
    };
  });
}
