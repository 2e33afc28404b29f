// Payments over the API: create, retrieve, capture, void, refund, and charging a saved card. Rules of state live in
// operations. Specification: Payments and tokens.
import type { z } from 'zod';
import { expiresInMinutes } from '../../domain/checkout-session.ts';
import { DomainError, type FieldError, validationError } from '../../domain/errors.ts';
import { findRefund } from '../../models/refund-moves.ts';
import { findTransaction } from '../../models/transaction.ts';
import { capturePayment, voidPayment } from '../../operations/capture-payment.ts';
import { chargeToken, type ChargeTokenInput } from '../../operations/charge-token.ts';
import { createSession } from '../../operations/create-session.ts';
import { refundPayment } from '../../operations/refund-payment.ts';
import { jsonAnswer } from '../../presenters/answer.ts';
import { presentPaymentRecord } from '../../presenters/payment.ts';
import { presentRefund } from '../../presenters/refund.ts';
import { type Route, route } from '../route.ts';
import { payment, refund } from '../schema/payment.ts';
import { captureBody, chargeTokenBody, createPaymentBody, refundBody, reservedPayment, voidBody } from '../schema/payment-request.ts';
import { z as schema } from '../schema/zod.ts';

const tag = 'Payments';
const processing = { description: 'The outcome is not known yet; the record is `processing`. Do not try again with another key.', schema: payment };
const chargeErrors = [
  'amount_out_of_range',
  'currency_not_supported',
  'token_not_found',
  'token_inactive',
  'token_gateway_mismatch',
  'gateway_not_found',
  'redirect_host_not_registered',
  'test_clock_not_found',
  'card_declined',
  'authentication_required',
  'gateway_unavailable',
] as const;

export const paymentRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/payments',
    tier: 'payment-mutations',
    takesKeyItself: true,
    operationId: 'createPayment',
    summary: 'Create a payment',
    description: 'With `payment_token_id` the saved card is charged at once. Without, the answer has a `checkout_url` to send the customer to; the payment keeps its id.',
    tag,
    body: createPaymentBody,
    responses: { 201: { description: 'The payment, or the one reserved for the hosted page.', schema: schema.union([payment, reservedPayment]) }, 202: processing },
    errors: [...chargeErrors, 'customer_not_found'],
    foreign: 'validation',
    async handler({ deps, request, body, claim }) {
      const token = tokenOf(body, 'payment_token_id');
      if (token !== null) return chargeToken(deps.money, request, toCharge(body, token, body.customer_id ?? null), claim);
      const { success_url: successUrl, failure_url: failureUrl } = body;
      const missing: FieldError[] = (['success_url', 'failure_url'] as const)
        .filter((field) => body[field] === null || body[field] === undefined)
        .map((path) => ({ path, code: 'required', message: `${path} is required for a payment without payment_token_id.` }));
      if (!successUrl || !failureUrl) throw validationError(missing);
      const created = await createSession(
        deps.operations,
        request,
        {
          amountMinor: body.amount,
          currency: body.currency,
          successUrl,
          failureUrl,
          cancelUrl: body.cancel_url ?? null,
          description: body.description ?? null,
          customer: null,
          customerId: body.customer_id ?? null,
          lineItems: [],
          subtotalMinor: null,
          taxName: null,
          taxRate: null,
          taxAmountMinor: null,
          metadata: body.metadata ?? {},
          gateway: body.gateway ?? null,
          expiresInMinutes: expiresInMinutes.default,
          source: 'api',
          orderId: body.order_id ?? null,
          savePaymentMethod: true,
          locale: null,
          recoveredFrom: null,
          capture: body.capture ?? true,
          asked: 'payment',
        },
        claim,
      );
      await deps.temporal.startSession(created.session);
      return created.answer;
    },
  }),
  route({
    method: 'GET',
    path: '/payments/{id}',
    tier: 'writes',
    operationId: 'retrievePayment',
    summary: 'Retrieve a payment',
    description: 'The full record, with its refunds.',
    tag,
    ids: { id: 'transaction' },
    responses: { 200: { description: 'The payment.', schema: payment } },
    foreign: 'not_found',
    async handler({ deps, request, params }) {
      const { db, gateways } = deps.operations;
      const row = await findTransaction(db, request, params.id);
      if (row === null) throw new DomainError('not_found', 'There is no such payment.');
      return jsonAnswer(200, presentPaymentRecord(row, gateways.nameOf(row.gateway)));
    },
  }),
  route({
    method: 'POST',
    path: '/payments/{id}/capture',
    tier: 'payment-mutations',
    takesKeyItself: true,
    operationId: 'capturePayment',
    summary: 'Capture an authorised payment',
    description: 'Once, all of it or a part; the rest of the authorisation is released.',
    tag,
    ids: { id: 'transaction' },
    body: captureBody,
    responses: { 200: { description: 'The payment, captured.', schema: payment }, 202: processing },
    errors: ['amount_out_of_range', 'capture_exceeds_authorized', 'payment_not_capturable', 'payment_outcome_pending', 'gateway_unavailable'],
    foreign: 'not_found',
    handler: ({ deps, request, params, body, claim }) => capturePayment(deps.money, request, params.id, body.amount ?? null, claim),
  }),
  route({
    method: 'POST',
    path: '/payments/{id}/refund',
    tier: 'payment-mutations',
    takesKeyItself: true,
    operationId: 'refundPayment',
    summary: 'Refund a payment',
    description: 'In full or in part, at most 50 times. A refund the gateway still works on is `pending` and holds its amount.',
    tag,
    ids: { id: 'transaction' },
    body: refundBody,
    responses: { 201: { description: 'The refund.', schema: refund } },
    errors: ['amount_out_of_range', 'refund_exceeds_remaining', 'payment_not_refundable', 'payment_outcome_pending', 'refund_limit_reached'],
    foreign: 'not_found',
    handler: ({ deps, request, params, body, claim }) =>
      refundPayment(
        deps.money,
        request,
        { transactionId: params.id, amountMinor: body.amount ?? null, reason: body.reason ?? null, orderId: body.order_id ?? null, metadata: body.metadata ?? {} },
        claim,
      ),
  }),
  route({
    method: 'POST',
    path: '/payments/{id}/void',
    tier: 'payment-mutations',
    takesKeyItself: true,
    operationId: 'voidPayment',
    summary: 'Void an authorised payment',
    tag,
    ids: { id: 'transaction' },
    body: voidBody,
    responses: { 200: { description: 'The payment, voided.', schema: payment }, 202: processing },
    errors: ['payment_not_voidable', 'payment_outcome_pending', 'gateway_unavailable'],
    foreign: 'not_found',
    handler: ({ deps, request, params, body, claim }) => voidPayment(deps.money, request, params.id, body.reason ?? null, claim),
  }),
  route({
    method: 'GET',
    path: '/refunds/{id}',
    tier: 'writes',
    operationId: 'retrieveRefund',
    summary: 'Retrieve a refund',
    tag,
    ids: { id: 'refund' },
    responses: { 200: { description: 'The refund.', schema: refund } },
    foreign: 'not_found',
    async handler({ deps, request, params }) {
      const found = await findRefund(deps.operations.db, request, params.id);
      if (found === null) throw new DomainError('not_found', 'There is no such refund.');
      return jsonAnswer(200, presentRefund(found.refund, found.payment));
    },
  }),
  route({
    method: 'POST',
    path: '/charge-token',
    tier: 'payment-mutations',
    takesKeyItself: true,
    operationId: 'chargeToken',
    summary: 'Charge a saved card',
    tag,
    body: chargeTokenBody,
    responses: { 201: { description: 'The payment.', schema: payment }, 202: processing },
    errors: chargeErrors,
    foreign: 'validation',
    async handler({ deps, request, body, claim }) {
      const token = tokenOf(body, 'token_id');
      if (token === null) throw validationError([{ path: 'token_id', code: 'required', message: 'token_id is required.' }]);
      return chargeToken(deps.money, request, toCharge(body, token, null), claim);
    },
  }),
];

interface TokenField {
  readonly id: string;
  readonly field: string;
}

/** The token under either of its names. @throws DomainError when both are given and differ */
function tokenOf(body: { payment_token_id?: string | null | undefined; token_id?: string | null | undefined }, preferred: 'payment_token_id' | 'token_id'): TokenField | null {
  const other = preferred === 'token_id' ? 'payment_token_id' : 'token_id';
  const [first, second] = [body[preferred] ?? null, body[other] ?? null];
  if (first !== null && second !== null && first !== second) throw validationError([{ path: other, code: 'conflict', message: `${other} and ${preferred} name different tokens.` }]);
  if (first !== null) return { id: first, field: preferred };
  return second === null ? null : { id: second, field: other };
}

function toCharge(body: z.infer<typeof chargeTokenBody>, token: TokenField, customerId: string | null): ChargeTokenInput {
  return {
    tokenId: token.id,
    tokenField: token.field,
    amountMinor: body.amount,
    currency: body.currency,
    capture: body.capture ?? true,
    description: body.description ?? null,
    orderId: body.order_id ?? null,
    metadata: body.metadata ?? {},
    gateway: body.gateway ?? null,
    customerId,
    successUrl: body.success_url ?? null,
    failureUrl: body.failure_url ?? null,
  };
}
