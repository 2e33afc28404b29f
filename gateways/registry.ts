// Which gateways there are and in which modes they may be used. Adapters are opened by composition roots and handed in;
// which merchant has an account where is not known here.
import type { Mode } from '../domain/mode.ts';
import { knownGateway } from './catalogue.ts';
import type { Gateway } from './gateway.ts';

export interface GatewayRegistry {
  /** The adapter behind a slug, for work that was begun with it, whatever the mode. */
  open(slug: string): Gateway | null;
  /** The facts of a gateway if new payments may use it in this mode; `needsAccount`: only merchants with an enabled account. */
  find(slug: string, mode: Mode): { slug: string; name: string; currencies: 'all' | readonly string[]; needsAccount: boolean } | null;
  nameOf(slug: string): string;
}

/** @param isUsable whether new payments of this mode may go to this gateway (simulated ones: test mode, live only by setting) */
export function createGatewayRegistry(gateways: readonly Gateway[], isUsable: (slug: string, mode: Mode) => boolean): GatewayRegistry {
  const bySlug = new Map(gateways.map((gateway) => [gateway.slug, gateway]));
  return {
    open: (slug) => bySlug.get(slug) ?? null,
    find(slug, mode) {
      const gateway = bySlug.get(slug);
      if (gateway === undefined || !isUsable(slug, mode)) return null;
      // One nobody knows is not for everybody.
      return { slug, name: gateway.name, currencies: gateway.capabilities.currencies, needsAccount: knownGateway(slug)?.needsAccount ?? true };
    },
    nameOf: (slug) => bySlug.get(slug)?.name ?? knownGateway(slug)?.name ?? slug,
  };
}
