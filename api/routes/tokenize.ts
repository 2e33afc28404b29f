// Saving a card. The one place of the API that sees a card number: it goes to the gateway's vault in the call it came with,
// and nothing but the gateway's reference is written. Specification: POST /tokenize.
import { Pan } from '../../domain/card.ts';
import { DomainError, validationError } from '../../domain/errors.ts';
import { CardRejected, type VaultedCard, VaultUnavailable } from '../../gateways/vault.ts';
import { showToken } from '../../operations/show-token.ts';
import { planToken, writeToken } from '../../operations/tokenize.ts';
import { withIdempotency } from '../../operations/with-idempotency.ts';
import { jsonAnswer } from '../../presenters/answer.ts';
import type { ApiDeps } from '../deps.ts';
import { type AdmittedRequest, type Route, route } from '../route.ts';
import { digitsOf, paymentToken, tokenizeBody } from '../schema/payment-token.ts';

/** Fields of the request by what a gateway calls bad. */
const cardFields = { number: 'card.number', expiry: 'card.expiry_month', cvc: 'card.cvc' } as const;

export const tokenizeRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/tokenize',
    tier: 'payment-mutations',
    operationId: 'tokenize',
    summary: 'Save a card',
    description:
      'From card data, which live keys may send only for merchants switched on for it, or from an approved payment. The same card of the same customer at the same gateway gives the token there is.',
    tag: 'Saved cards',
    body: tokenizeBody,
    responses: { 200: { description: 'The active token this customer already has for the card.', schema: paymentToken }, 201: { description: 'The new token.', schema: paymentToken } },
    errors: ['gateway_not_found', 'customer_not_found', 'direct_card_not_allowed', 'token_gateway_mismatch', 'gateway_unavailable'],
    foreign: 'validation',
    async handler({ deps, request, body, claim }) {
      const { operations } = deps;
      const plan = await planToken(operations, request, {
        paymentId: body.payment_id ?? null,
        customerId: body.customer_id ?? null,
        externalCustomerId: body.external_customer_id ?? null,
        gateway: body.gateway ?? null,
        holderName: body.card?.name ?? null,
      });
      const kept = plan.card ?? (await keep(deps, request, plan.gateway, toPan(body.card)));
      return withIdempotency(operations, request, claim, async (trx) => {
        const { token, isNew } = await writeToken(operations, trx, request, plan, kept);
        return { ...jsonAnswer(isNew ? 201 : 200, showToken(operations, token)), resourceType: 'payment_token', resourceId: token.id };
      });
    },
  }),
];

type CardInput = { readonly number: string; readonly cvc: string; readonly expiry_month: number; readonly expiry_year: number; readonly name?: string | null | undefined };

function toPan(card: CardInput | null | undefined): Pan {
  if (card === null || card === undefined) throw new Error('a request without a card passed validation');
  return new Pan({ number: digitsOf(card.number), cvc: card.cvc, expiryMonth: card.expiry_month, expiryYear: card.expiry_year, holderName: card.name ?? null });
}

/** @throws DomainError validation_failed for a card the gateway refuses, gateway_unavailable */
async function keep(deps: ApiDeps, request: AdmittedRequest, gateway: string, card: Pan): Promise<VaultedCard> {
  const { merchantId, mode } = request;
  const begun = performance.now();
  const record = (code: string): void =>
    deps.record.calls.recordGatewayCall({ merchantId, mode, transactionId: null, gateway, kind: 'vault', code, durationMs: Math.round(performance.now() - begun), createdAt: new Date() });
  try {
    const kept = await deps.vault.keep(gateway, card, { merchantId, mode });
    record('kept');
    return kept;
  } catch (error) {
    record(error instanceof CardRejected ? 'rejected' : 'unavailable');
    if (error instanceof CardRejected) throw validationError([{ path: cardFields[error.field], code: 'card_rejected', message: error.message }]);
    if (error instanceof VaultUnavailable) throw new DomainError('gateway_unavailable', 'The gateway could not keep the card. Nothing was saved; try again.');
    throw error;
  }
}
