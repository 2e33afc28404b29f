// The address of a hosted page: the session id and a mac over it. Nothing secret is stored, and a replayed create
// returns the same address.
import { isId } from '../domain/id.ts';
import { isMacValid, makeMac } from '../platform/mac.ts';
import type { OperationDeps } from './deps.ts';

export function checkoutUrl(deps: Pick<OperationDeps, 'keyRing' | 'publicUrl'>, sessionId: string): string {
  return `${deps.publicUrl}/checkout/${checkoutToken(deps, sessionId)}`;
}

export function checkoutToken(deps: Pick<OperationDeps, 'keyRing'>, sessionId: string): string {
  return `${sessionId}.${makeMac(deps.keyRing, 'checkout-url', sessionId)}`;
}

/** The session id of a page's token, or null for a fake or altered one. */
export function sessionIdOfToken(deps: Pick<OperationDeps, 'keyRing'>, token: string): string | null {
  const dot = token.indexOf('.');
  const sessionId = token.slice(0, dot);
  if (dot < 0 || !isId('session', sessionId)) return null;
  return isMacValid(deps.keyRing, 'checkout-url', sessionId, token.slice(dot + 1)) ? sessionId : null;
}
