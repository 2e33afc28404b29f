// Creates a card setup for a known customer, with the stored answer, in one statement.
// Specification: POST /customers/{id}/card-setup-sessions.
import { cardSetupMinutes } from '../domain/card-setup.ts';
import { DomainError, type FieldError } from '../domain/errors.ts';
import { hostOf } from '../domain/redirect-url.ts';
import { insertCardSetup, type NewCardSetup, type StartableCardSetup } from '../models/card-setup.ts';
import { readSessionPreconditions } from '../models/session-create.ts';
import { presentCreatedCardSetup } from '../presenters/card-setup.ts';
import { jsonAnswer } from '../presenters/answer.ts';
import { cardSetupUrl } from './checkout-url.ts';
import type { Answer, OperationDeps, RequestScope } from './deps.ts';
import { type IdempotencyClaim, IdempotencyRace, storedClaim } from './idempotency.ts';
import { redirectsOf, refuseUnregistered, throwFound } from './redirect-hosts.ts';
import { usableGateway } from './usable-gateway.ts';

export interface CreateCardSetupInput {
  readonly customerId: string;
  readonly successUrl: string;
  readonly failureUrl: string;
  readonly cancelUrl: string | null;
  /** The subscription whose card the new one is meant to replace. */
  readonly subscriptionId: string | null;
}

/**
 * The card is kept by the merchant's default gateway.
 * @returns the answer, and what starts the workflow after the commit
 * @throws DomainError not_found for the customer, gateway_not_found, redirect_host_not_registered, validation_failed
 * @throws IdempotencyRace when the claim's key was taken meanwhile; nothing was written
 */
export async function createCardSetup(
  deps: OperationDeps,
  request: RequestScope,
  input: CreateCardSetupInput,
  claim: IdempotencyClaim | null,
): Promise<{ answer: Answer; setup: StartableCardSetup }> {
  const redirects = redirectsOf({ success_url: input.successUrl, failure_url: input.failureUrl, cancel_url: input.cancelUrl });
  const known = await readSessionPreconditions(deps.db, request, { customerId: input.customerId, externalCustomerId: null, hosts: redirects.map(([, url]) => hostOf(url)) });
  if (known.customer === null) throw new DomainError('not_found', 'There is no such customer.');
  const gateway = known.defaultGateway;
  const errors: FieldError[] = refuseUnregistered(request.mode, redirects, known.registeredHosts);
  if (usableGateway(deps.gateways, gateway, request.mode, known.connectedGateways) === null) {
    errors.push({ path: 'gateway', code: 'gateway_not_found', message: `There is no gateway "${gateway}" for this merchant in ${request.mode} mode.` });
  }
  throwFound(errors);

  const { merchantId, mode, now } = request;
  const expiresAt = new Date(now.getTime() + cardSetupMinutes * 60_000);
  const setup: NewCardSetup = { ...input, id: deps.newId('cardSetup'), merchantId, mode, gateway, expiresAt, createdAt: now };
  const answer = jsonAnswer(201, presentCreatedCardSetup(setup, cardSetupUrl(deps, setup.id)));
  if (!(await insertCardSetup(deps.db, setup, storedClaim(claim, answer)))) throw new IdempotencyRace('the key was taken by another request');
  return { answer, setup: { id: setup.id, merchantId, merchantName: known.merchantName, mode, expiresAt } };
}
