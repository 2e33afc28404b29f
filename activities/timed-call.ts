// One call to a gateway, timed and kept: kind, code and duration, no card data.
import type { GatewayCallRecord } from './checkout-session.ts';

/** @param about whose call it is, and when it began by Postgres' clock */
export async function timedCall<Outcome extends { readonly kind: string }>(
  record: (call: GatewayCallRecord) => void,
  about: Pick<GatewayCallRecord, 'merchantId' | 'mode' | 'transactionId' | 'gateway' | 'kind' | 'createdAt'>,
  call: () => Promise<Outcome>,
): Promise<Outcome> {
  const begun = performance.now();
  const outcome = await call();
  const code = 'declineCode' in outcome ? `${outcome.kind}:${String(outcome.declineCode)}` : outcome.kind;
  record({ ...about, code, durationMs: Math.round(performance.now() - begun) });
  return outcome;
}
