// The part of the gateway port that the API may know: a card goes in, the gateway's reference comes out.
import type { Pan } from '../domain/card.ts';
import { CardRejected, type GatewayCall, VaultUnavailable, type VaultedCard } from './gateway.ts';
import type { GatewayRegistry } from './registry.ts';

export { CardRejected, VaultUnavailable, type VaultedCard };

export interface CardVault {
  /** Keeps a card for later charges. Moves no money. @throws VaultUnavailable, CardRejected */
  keep(gateway: string, card: Pan, call: GatewayCall): Promise<VaultedCard>;
}

export function createCardVault(gateways: Pick<GatewayRegistry, 'open'>): CardVault {
  return {
    async keep(slug, card, call) {
      const gateway = gateways.open(slug);
      if (gateway === null) throw new VaultUnavailable(`gateway ${slug} is not configured`);
      return gateway.vaultCard(card, call, { save: true });
    },
  };
}
