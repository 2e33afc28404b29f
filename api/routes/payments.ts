// Payments over the API. Rules of state live in operations. Specification: Payments and tokens.
import { DomainError } from '../../domain/errors.ts';
import { findTransaction } from '../../models/transaction.ts';
import { jsonAnswer } from '../../presenters/answer.ts';
import { presentPaymentRecord } from '../../presenters/payment.ts';
import { type Route, route } from '../route.ts';
import { payment } from '../schema/payment.ts';

const tag = 'Payments';

export const paymentRoutes: readonly Route[] = [
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
];
