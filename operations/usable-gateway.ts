// Whether new payments of a merchant may go to a gateway: it is usable in the mode, and where it asks for an account, the
// merchant has one that is enabled. A pure function, for every operation that takes a gateway's name.
import type { Mode } from '../domain/mode.ts';
import type { GatewayCatalogue, GatewayFacts } from './deps.ts';

/** @param connected slugs of the merchant's enabled accounts in this mode */
export function usableGateway(gateways: GatewayCatalogue, slug: string, mode: Mode, connected: readonly string[]): GatewayFacts | null {
  const facts = gateways.find(slug, mode);
  return facts !== null && facts.needsAccount === true && !connected.includes(slug) ? null : facts;
}
