// Checkout sessions over the API: create, list, retrieve, expire, recover. Rules of state live in operations.
// Specification: Checkout sessions.
import type { z } from 'zod';
import { expiresInMinutes, isTerminal, sessionStatuses, visibleStatus } from '../../domain/checkout-session.ts';
import { DomainError } from '../../domain/errors.ts';
import { findSession, listSessions, type SessionWithTransaction } from '../../models/checkout-session.ts';
import { findSettings } from '../../models/merchant.ts';
import { type CreateSessionInput, createSession } from '../../operations/create-session.ts';
import type { OperationDeps } from '../../operations/deps.ts';
import { recoverSession } from '../../operations/recover-session.ts';
import { withLease } from '../../operations/with-idempotency.ts';
import { jsonAnswer, presentPage } from '../../presenters/answer.ts';
import { presentSession } from '../../presenters/checkout-session.ts';
import type { ApiDeps } from '../deps.ts';
import { type AdmittedRequest, type Route, route } from '../route.ts';
import { createdSession, createSessionBody, emptyBody, recoverSessionBody, session } from '../schema/checkout-session.ts';
import { pageFields, pageOf, rangeFields, readRange } from '../schema/listing.ts';
import { z as schema } from '../schema/zod.ts';

const tag = 'Checkout sessions';
const createErrors = ['amount_out_of_range', 'currency_not_supported', 'redirect_host_not_registered', 'customer_not_found', 'gateway_not_found', 'test_clock_not_found'] as const;

export const checkoutSessionRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/checkout-sessions',
    tier: 'writes',
    takesKeyItself: true,
    operationId: 'createCheckoutSession',
    summary: 'Create a checkout session',
    description: 'Send the customer to `checkout_url`. It takes one payment and lives until `expires_at`.',
    tag,
    body: createSessionBody,
    responses: { 201: { description: 'The session.', schema: createdSession } },
    errors: createErrors,
    foreign: 'validation',
    async handler({ deps, request, body, claim }) {
      const created = await createSession(deps.operations, request, toInput(body), claim);
      await deps.temporal.startSession(created.session);
      return created.answer;
    },
  }),
  route({
    method: 'GET',
    path: '/checkout-sessions',
    tier: 'writes',
    operationId: 'listCheckoutSessions',
    summary: 'List checkout sessions',
    tag,
    query: schema.object({
      ...pageFields,
      ...rangeFields,
      status: schema.enum(sessionStatuses).optional(),
      customer_id: schema.string().optional(),
      currency: schema.string().optional(),
      source: schema.string().optional(),
      order_id: schema.string().optional(),
    }),
    responses: { 200: { description: 'Newest first.', schema: pageOf(session) } },
    foreign: 'empty',
    async handler({ deps, request, query }) {
      const { page, limit } = query;
      const range = await readRange(deps.operations.db, request, query);
      const filter = { status: query.status, ...range, customerId: query.customer_id, currency: query.currency, source: query.source, orderId: query.order_id };
      const { rows, total } = await listSessions(deps.operations.db, request, filter, { limit, offset: (page - 1) * limit });
      return jsonAnswer(200, presentPage(rows.map(presentSession), { page, limit, total }));
    },
  }),
  route({
    method: 'GET',
    path: '/checkout-sessions/{id}',
    tier: 'writes',
    operationId: 'retrieveCheckoutSession',
    summary: 'Retrieve a checkout session',
    tag,
    ids: { id: 'session' },
    responses: { 200: { description: 'The session.', schema: session } },
    foreign: 'not_found',
    async handler({ deps, request, params }) {
      return jsonAnswer(200, presentSession(await found(deps.operations, request, params.id)));
    },
  }),
  route({
    method: 'POST',
    path: '/checkout-sessions/{id}/expire',
    tier: 'writes',
    operationId: 'expireCheckoutSession',
    summary: 'Expire an open checkout session',
    description: 'Refused while a payment attempt is in flight.',
    tag,
    ids: { id: 'session' },
    body: emptyBody,
    responses: { 200: { description: 'The expired session.', schema: session } },
    errors: ['session_not_open'],
    foreign: 'not_found',
    async handler({ deps, request, params, claim }) {
      return withLease(deps.operations, request, claim, async (resumed) => {
        const expired = await expire(deps, request, params.id, resumed);
        return { ...jsonAnswer(200, presentSession(expired)), resourceType: 'checkout_session', resourceId: expired.id };
      });
    },
  }),
  route({
    method: 'POST',
    path: '/checkout-sessions/{id}/recover',
    tier: 'writes',
    operationId: 'recoverCheckoutSession',
    summary: 'Make a new session from one that failed, expired or was cancelled',
    tag,
    ids: { id: 'session' },
    body: recoverSessionBody,
    responses: { 201: { description: 'The new session.', schema: createdSession } },
    errors: ['session_not_open', ...createErrors],
    foreign: 'not_found',
    async handler({ deps, request, params, body, claim }) {
      const input = {
        successUrl: body.success_url ?? undefined,
        failureUrl: body.failure_url ?? undefined,
        cancelUrl: body.cancel_url ?? undefined,
        expiresInMinutes: body.expires_in_minutes ?? undefined,
      };
      const created = await recoverSession(deps.operations, request, params.id, input, claim);
      await deps.temporal.startSession(created.session);
      return created.answer;
    },
  }),
];

async function found(deps: Pick<OperationDeps, 'db'>, request: AdmittedRequest, id: string): Promise<SessionWithTransaction> {
  const row = await findSession(deps.db, request, id);
  if (row === null) throw new DomainError('not_found', 'There is no such checkout session.');
  return row;
}

/** @param resumed an earlier call of this request may have ended the session already: that is then its success */
async function expire(deps: ApiDeps, request: AdmittedRequest, id: string, resumed: boolean): Promise<SessionWithTransaction> {
  const before = await found(deps.operations, request, id);
  const status = visibleStatus(before, before.readAt);
  if (status === 'expired' && resumed) return before;
  if (isTerminal(status)) throw notOpen(status);
  const { name } = await findSettings(deps.operations.db, request);
  const result = await deps.temporal.endSession({ ...before, merchantName: name }, 'expired');
  const after = await found(deps.operations, request, id);
  switch (result.state) {
    case 'ended':
      return after;
    case 'in_flight':
      throw new DomainError('session_not_open', 'A payment attempt is in flight: the session cannot be expired until it is settled.', { currentStatus: 'open' });
    case 'early':
    case 'already':
      throw notOpen(visibleStatus(after, after.readAt));
  }
}

function notOpen(status: string): DomainError {
  return new DomainError('session_not_open', `Only an open session can be expired; this one is ${status}.`, { currentStatus: status });
}

function toInput(body: z.output<typeof createSessionBody>): CreateSessionInput {
  const { customer } = body;
  return {
    amountMinor: body.amount,
    currency: body.currency,
    successUrl: body.success_url,
    failureUrl: body.failure_url,
    cancelUrl: body.cancel_url ?? null,
    description: body.description ?? null,
    customer:
      customer === null || customer === undefined
        ? null
        : { name: customer.name ?? null, email: customer.email ?? null, phone: customer.phone ?? null, externalCustomerId: customer.external_customer_id ?? null },
    customerId: body.customer_id ?? null,
    lineItems: (body.line_items ?? []).map((item) => ({
      name: item.name,
      description: item.description ?? null,
      quantity: item.quantity ?? 1,
      unitAmountMinor: item.unit_amount,
      sku: item.sku ?? null,
      imageUrl: item.image_url ?? null,
      taxAmountMinor: item.tax_amount ?? null,
    })),
    subtotalMinor: body.subtotal ?? null,
    taxName: body.tax_name ?? null,
    taxRate: body.tax_rate ?? null,
    taxAmountMinor: body.tax_amount ?? null,
    metadata: body.metadata ?? {},
    gateway: body.gateway ?? null,
    expiresInMinutes: body.expires_in_minutes ?? expiresInMinutes.default,
    source: body.source ?? 'hosted_checkout',
    orderId: null,
    savePaymentMethod: body.save_payment_method ?? true,
    locale: body.locale ?? null,
    recoveredFrom: null,
    capture: true,
    asked: 'session',
  };
}
