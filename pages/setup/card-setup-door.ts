// What a card setup's page can do: show itself, save a card, cancel. The card goes to the gateway in the same call it
// arrived with; from here on there is only the gateway's reference.
import type { Pan } from '../../domain/card.ts';
import { visibleStatus } from '../../domain/checkout-session.ts';
import { CardRejected, type CardVault, VaultUnavailable } from '../../gateways/vault.ts';
import { type CardSetupPageRow, readCardSetupPage } from '../../models/card-setup.ts';
import { cardSetupIdOfToken } from '../../operations/checkout-url.ts';
import { completeCardSetup, rejectCardOfSetup } from '../../operations/complete-card-setup.ts';
import type { OperationDeps } from '../../operations/deps.ts';
import { endCardSetup } from '../../operations/end-card-setup.ts';
import { type RecordVault, timedVault } from '../checkout/timed-vault.ts';
import type { CardSetupPages, CardSetupView } from '../deps.ts';

export interface CardSetupPagesDeps {
  readonly operations: OperationDeps;
  readonly vault: CardVault;
  readonly recordVault: RecordVault;
}

export function createCardSetupPages({ operations, vault, recordVault }: CardSetupPagesDeps): CardSetupPages {
  const { db } = operations;
  const readAnew = async (id: string): Promise<CardSetupPageRow> => {
    const row = await readCardSetupPage(db, id);
    if (row === null) throw new Error(`the card setup ${id} is gone`);
    return row;
  };
  return {
    async openSetup(token) {
      const id = cardSetupIdOfToken(operations, token);
      const row = id === null ? null : await readCardSetupPage(db, id);
      return row === null ? null : toView(row, token);
    },

    async saveCard(view, card: Pan) {
      const { sessionId } = view;
      // Read again: the gateway is not for the page to know, and what is over needs no call.
      const row = await readAnew(sessionId);
      if (phaseOf(row) !== 'open') return { kind: 'over', status: phaseOf(row) };
      const { merchantId, mode, gateway } = row;
      try {
        const kept = await timedVault(recordVault, { merchantId, mode, gateway, transactionId: null }, () => vault.keep(gateway, card, { merchantId, mode }));
        if (await completeCardSetup(operations, sessionId, kept)) return { kind: 'over', status: 'completed' };
        return { kind: 'over', status: phaseOf(await readAnew(sessionId)) };
      } catch (error) {
        if (error instanceof VaultUnavailable) return { kind: 'try_again' };
        if (!(error instanceof CardRejected)) throw error;
        if (await rejectCardOfSetup(operations, sessionId)) return { kind: 'over', status: 'failed' };
        return { kind: 'card_rejected', field: error.field, message: error.message };
      }
    },

    async cancelSetup({ sessionId }) {
      await endCardSetup(operations, sessionId, 'cancelled');
      return phaseOf(await readAnew(sessionId));
    },
  };
}

function phaseOf(row: CardSetupPageRow): CardSetupView['phase'] {
  return visibleStatus({ ...row, attemptInFlight: false }, row.readAt);
}

function toView(row: CardSetupPageRow, token: string): CardSetupView {
  const { id, mode, merchant, successUrl, failureUrl, cancelUrl, card, customerName } = row;
  return { sessionId: id, token, mode, phase: phaseOf(row), merchant, successUrl, failureUrl, cancelUrl, card, customerName, testCards: mode === 'test' };
}
