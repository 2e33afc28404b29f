// A saved card as its merchant may see it: with the gateway's name, and a fingerprint keyed for the merchant, so that two
// merchants cannot find out that they know the same card.
import { keyedFingerprint } from '../platform/mac.ts';
import type { TokenRow } from '../models/payment-token.ts';
import { presentToken } from '../presenters/payment-token.ts';
import type { OperationDeps } from './deps.ts';

export function showToken(deps: Pick<OperationDeps, 'keyRing' | 'gateways'>, row: TokenRow) {
  // The oldest key of the ring: a fingerprint is compared over years, so it must outlast the rolling of keys.
  const key = (deps.keyRing.all.at(-1) ?? deps.keyRing.current).derive('card-fingerprint');
  const fingerprint = keyedFingerprint(key, `${row.merchantId}|${row.mode}|${row.fingerprint}`);
  return presentToken(row, { fingerprint, gatewayName: deps.gateways.nameOf(row.gateway) });
}
