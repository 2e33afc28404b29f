// Saved cards over the API: look one up, deactivate it, list a customer's. Specification: Payment token.
import { findToken, listCustomerTokens } from '../../models/payment-token.ts';
import { deactivateToken, tokenNotFound } from '../../operations/deactivate-token.ts';
import { showToken } from '../../operations/show-token.ts';
import { withIdempotency } from '../../operations/with-idempotency.ts';
import { jsonAnswer } from '../../presenters/answer.ts';
import { presentDeactivation } from '../../presenters/payment-token.ts';
import { type Route, route } from '../route.ts';
import { emptyBody } from '../schema/checkout-session.ts';
import { deactivation, paymentToken } from '../schema/payment-token.ts';
import { z } from '../schema/zod.ts';

const tag = 'Saved cards';

export const paymentTokenRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/payment-tokens/{id}',
    tier: 'writes',
    operationId: 'retrievePaymentToken',
    summary: 'Retrieve a saved card',
    tag,
    ids: { id: 'token' },
    responses: { 200: { description: 'The saved card, active or not.', schema: paymentToken } },
    foreign: 'not_found',
    async handler({ deps, request, params }) {
      const row = await findToken(deps.operations.db, request, params.id);
      if (row === null) throw tokenNotFound();
      return jsonAnswer(200, showToken(deps.operations, row));
    },
  }),
  route({
    method: 'POST',
    path: '/payment-tokens/{id}/deactivate',
    tier: 'payment-mutations',
    operationId: 'deactivatePaymentToken',
    summary: 'Deactivate a saved card',
    description: 'For good. Doing it again gives the same answer.',
    tag,
    ids: { id: 'token' },
    body: emptyBody,
    responses: { 200: { description: 'Deactivated.', schema: deactivation } },
    foreign: 'not_found',
    async handler({ deps, request, params, claim }) {
      return withIdempotency(deps.operations, request, claim, async (trx) => {
        const row = await deactivateToken(trx, request, params.id);
        return { ...jsonAnswer(200, presentDeactivation(row)), resourceType: 'payment_token', resourceId: row.id };
      });
    },
  }),
  route({
    method: 'GET',
    path: '/customers/{external_customer_id}/payment-tokens',
    tier: 'writes',
    operationId: 'listCustomerPaymentTokens',
    summary: 'List the saved cards of a customer',
    description: 'By your own id of the customer, or ours. An unknown customer has none.',
    tag,
    ids: { external_customer_id: 'text' },
    responses: { 200: { description: 'Active ones, newest first.', schema: z.object({ data: z.array(paymentToken) }) } },
    foreign: 'empty',
    async handler({ deps, request, params }) {
      const rows = await listCustomerTokens(deps.operations.db, request, params.external_customer_id);
      return jsonAnswer(200, { data: rows.map((row) => showToken(deps.operations, row)) });
    },
  }),
];
