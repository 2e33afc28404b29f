// A card on its way to a gateway is a call like any other: what came of it and how long it took is recorded, nothing else.
import type { Mode } from '../../domain/mode.ts';
import { CardRejected, type VaultedCard } from '../../gateways/vault.ts';

export interface VaultFacts {
  readonly merchantId: string;
  readonly mode: Mode;
  /** null where nothing is paid. */
  readonly transactionId: string | null;
  readonly gateway: string;
}

export type RecordVault = (call: VaultFacts & { readonly code: string; readonly durationMs: number }) => void;

/** @throws what the call throws */
export async function timedVault(record: RecordVault, facts: VaultFacts, call: () => Promise<VaultedCard>): Promise<VaultedCard> {
  const begun = performance.now();
  const tell = (code: string): void => record({ ...facts, code, durationMs: Math.round(performance.now() - begun) });
  try {
    const kept = await call();
    tell('kept');
    return kept;
  } catch (error) {
    tell(error instanceof CardRejected ? 'rejected' : 'unavailable');
    throw error;
  }
}
