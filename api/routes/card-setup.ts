// Card setups over the API: create and retrieve. Saving the card is the hosted page's business.
// Specification: Payment tokens.
import { DomainError } from '../../domain/errors.ts';
import { findCardSetup } from '../../models/card-setup.ts';
import { createCardSetup } from '../../operations/create-card-setup.ts';
import { jsonAnswer } from '../../presenters/answer.ts';
import { presentCardSetup } from '../../presenters/card-setup.ts';
import { type Route, route } from '../route.ts';
import { cardSetup, createCardSetupBody, createdCardSetup } from '../schema/card-setup.ts';

const tag = 'Saved cards';

export const cardSetupRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/customers/{id}/card-setup-sessions',
    tier: 'writes',
    operationId: 'createCardSetupSession',
    summary: 'Save a card of a customer on a hosted page, without charging it',
    description: 'Send the customer to `setup_url`. The card becomes a token of the customer at the default gateway; the page lives until `expires_at`.',
    tag,
    ids: { id: 'customer' },
    body: createCardSetupBody,
    responses: { 201: { description: 'The card setup.', schema: createdCardSetup } },
    errors: ['redirect_host_not_registered', 'gateway_not_found'],
    foreign: 'not_found',
    async handler({ deps, request, params, body, claim }) {
      const input = {
        customerId: params.id,
        successUrl: body.success_url,
        failureUrl: body.failure_url,
        cancelUrl: body.cancel_url ?? null,
        subscriptionId: body.subscription_id ?? null,
      };
      const { answer, setup } = await createCardSetup(deps.operations, request, input, claim);
      await deps.cardSetups.startCardSetup(setup);
      return answer;
    },
  }),
  route({
    method: 'GET',
    path: '/card-setup-sessions/{id}',
    tier: 'writes',
    operationId: 'retrieveCardSetupSession',
    summary: 'Retrieve a card setup',
    description: 'Once it is `completed`, `token_id` is the saved card.',
    tag,
    ids: { id: 'cardSetup' },
    responses: { 200: { description: 'The card setup.', schema: cardSetup } },
    foreign: 'not_found',
    async handler({ deps, request, params }) {
      const row = await findCardSetup(deps.operations.db, request, params.id);
      if (row === null) throw new DomainError('not_found', 'There is no such card setup.');
      return jsonAnswer(200, presentCardSetup(row));
    },
  }),
];
