// The two answers a gateway has to a card on the setup page: kept, which completes the setup with a token, or refused, which
// is counted. The gateway was asked before, outside any transaction.
import { maxRejectedCards } from '../domain/card-setup.ts';
import { countRejectedCard, lockOpenCardSetup, markCardSetupCompleted } from '../models/card-setup.ts';
import type { OperationDeps } from './deps.ts';
import { type KeptCard, writeToken } from './tokenize.ts';

/**
 * Makes or finds the token of the card and completes the setup, in one transaction: however often a form is sent, one token.
 * @returns false when the setup was no longer open: somebody else completed or ended it, or its time had come
 */
export async function completeCardSetup(deps: OperationDeps, setupId: string, kept: KeptCard): Promise<boolean> {
  return deps.db.transaction(async (trx) => {
    const setup = await lockOpenCardSetup(trx, setupId);
    if (setup === null) return false;
    const plan = { gateway: setup.gateway, customerId: setup.customerId, externalCustomerId: null, payer: { name: null, email: null, phone: null }, card: null };
    const { token } = await writeToken(deps, trx, setup, plan, kept);
    await markCardSetupCompleted(trx, setup.id, token.id);
    return true;
  });
}

/** @returns whether the page closes now: this was the last card it allows */
export async function rejectCardOfSetup(deps: Pick<OperationDeps, 'db'>, setupId: string): Promise<boolean> {
  return (await countRejectedCard(deps.db, setupId, maxRejectedCards)) === 'failed';
}
