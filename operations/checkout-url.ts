// The addresses of hosted pages: an id and a mac over it. Nothing secret is stored, and a replayed create returns the same
// address. An id's prefix keeps a checkout's mac from opening a card setup.
import { type IdKind, isId } from '../domain/id.ts';
import { isMacValid, makeMac } from '../platform/mac.ts';
import type { OperationDeps } from './deps.ts';

export function checkoutUrl(deps: Pick<OperationDeps, 'keyRing' | 'publicUrl'>, sessionId: string): string {
  return `${deps.publicUrl}/checkout/${checkoutToken(deps, sessionId)}`;
}

export function checkoutToken(deps: Pick<OperationDeps, 'keyRing'>, sessionId: string): string {
  return pageToken(deps, sessionId);
}

/** The session id of a page's token, or null for a fake or altered one. */
export function sessionIdOfToken(deps: Pick<OperationDeps, 'keyRing'>, token: string): string | null {
  return idOfToken(deps, 'session', token);
}

export function cardSetupUrl(deps: Pick<OperationDeps, 'keyRing' | 'publicUrl'>, setupId: string): string {
  return `${deps.publicUrl}/setup/${pageToken(deps, setupId)}`;
}

/** The card setup's id of a page's token, or null for a fake or altered one. */
export function cardSetupIdOfToken(deps: Pick<OperationDeps, 'keyRing'>, token: string): string | null {
  return idOfToken(deps, 'cardSetup', token);
}

function pageToken(deps: Pick<OperationDeps, 'keyRing'>, id: string): string {
  return `${id}.${makeMac(deps.keyRing, 'checkout-url', id)}`;
}

function idOfToken(deps: Pick<OperationDeps, 'keyRing'>, kind: IdKind, token: string): string | null {
  const dot = token.indexOf('.');
  const id = token.slice(0, dot);
  if (dot < 0 || !isId(kind, id)) return null;
  return isMacValid(deps.keyRing, 'checkout-url', id, token.slice(dot + 1)) ? id : null;
}
