// The listing of payments. Specification: Listings.
import { transactionStatuses } from '../../domain/transaction.ts';
import { listTransactions } from '../../models/transaction-listing.ts';
import { jsonAnswer, presentPage } from '../../presenters/answer.ts';
import { presentPaymentItem } from '../../presenters/payment.ts';
import { type Route, route } from '../route.ts';
import { pageFields, pageOf, rangeFields, readRange } from '../schema/listing.ts';
import { paymentItem } from '../schema/payment.ts';
import { z } from '../schema/zod.ts';

export const transactionRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/transactions',
    tier: 'writes',
    operationId: 'listTransactions',
    summary: 'List payments',
    description: 'Payments that were attempted, as their record without refunds and custom-field responses.',
    tag: 'Listings',
    query: z.object({
      ...pageFields,
      ...rangeFields,
      status: z.enum(transactionStatuses).optional(),
      customer_id: z.string().optional(),
      currency: z.string().optional(),
      source: z.string().optional(),
      order_id: z.string().optional(),
    }),
    responses: { 200: { description: 'Newest first.', schema: pageOf(paymentItem) } },
    foreign: 'empty',
    async handler({ deps, request, query }) {
      const { page, limit } = query;
      const { db, gateways } = deps.operations;
      const range = await readRange(db, request, query);
      const filter = { status: query.status, ...range, customerId: query.customer_id, currency: query.currency, source: query.source, orderId: query.order_id };
      const { rows, total } = await listTransactions(db, request, filter, { limit, offset: (page - 1) * limit });
      return jsonAnswer(200, presentPage(rows.map((row) => presentPaymentItem(row, gateways.nameOf(row.gateway))), { page, limit, total }));
    },
  }),
];
