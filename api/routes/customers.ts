// Customers over the API. Specification: Customer; Listings.
import { findCustomer, listCustomers } from '../../models/customer.ts';
import { createCustomer } from '../../operations/create-customer.ts';
import { customerNotFound, updateCustomer } from '../../operations/update-customer.ts';
import { withIdempotency } from '../../operations/with-idempotency.ts';
import { jsonAnswer, presentPage } from '../../presenters/answer.ts';
import { presentCustomer } from '../../presenters/customer.ts';
import { type Route, route } from '../route.ts';
import { createCustomerBody, customer, updateCustomerBody } from '../schema/customer.ts';
import { pageFields, pageOf, rangeFields, readRange } from '../schema/listing.ts';
import { z } from '../schema/zod.ts';

const tag = 'Customers';

export const customerRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/customers',
    tier: 'writes',
    operationId: 'listCustomers',
    summary: 'List customers',
    tag,
    query: z.object({ ...pageFields, ...rangeFields, external_customer_id: z.string().optional(), email: z.string().optional() }),
    responses: { 200: { description: 'Newest first.', schema: pageOf(customer) } },
    foreign: 'empty',
    async handler({ deps, request, query }) {
      const { page, limit } = query;
      const { db } = deps.operations;
      const filter = { ...(await readRange(db, request, query)), externalCustomerId: query.external_customer_id, email: query.email };
      const { rows, total } = await listCustomers(db, request, filter, { limit, offset: (page - 1) * limit });
      return jsonAnswer(200, presentPage(rows.map(presentCustomer), { page, limit, total }));
    },
  }),
  route({
    method: 'POST',
    path: '/customers',
    tier: 'writes',
    operationId: 'createCustomer',
    summary: 'Create a customer',
    tag,
    body: createCustomerBody,
    responses: { 201: { description: 'The customer.', schema: customer } },
    errors: ['customer_exists'],
    foreign: 'none',
    async handler({ deps, request, body, claim }) {
      const input = {
        externalCustomerId: body.external_customer_id ?? null,
        name: body.name ?? null,
        email: body.email ?? null,
        phone: body.phone ?? null,
        metadata: body.metadata ?? {},
      };
      return withIdempotency(deps.operations, request, claim, async (trx) => {
        const row = await createCustomer(deps.operations, trx, request, input);
        return { ...jsonAnswer(201, presentCustomer(row)), resourceType: 'customer', resourceId: row.id };
      });
    },
  }),
  route({
    method: 'GET',
    path: '/customers/{id}',
    tier: 'writes',
    operationId: 'retrieveCustomer',
    summary: 'Retrieve a customer',
    tag,
    ids: { id: 'customer' },
    responses: { 200: { description: 'The customer.', schema: customer } },
    foreign: 'not_found',
    async handler({ deps, request, params }) {
      const row = await findCustomer(deps.operations.db, request, params.id);
      if (row === null) throw customerNotFound();
      return jsonAnswer(200, presentCustomer(row));
    },
  }),
  route({
    method: 'PATCH',
    path: '/customers/{id}',
    tier: 'writes',
    operationId: 'updateCustomer',
    summary: 'Change a customer',
    description: 'Fields left out keep their value; null clears one.',
    tag,
    ids: { id: 'customer' },
    body: updateCustomerBody,
    responses: { 200: { description: 'The customer after the change.', schema: customer } },
    errors: ['customer_exists', 'token_not_found', 'token_inactive'],
    foreign: 'not_found',
    async handler({ deps, request, params, body, claim }) {
      const { external_customer_id: externalCustomerId, name, email, phone, metadata, default_token_id: defaultTokenId } = body;
      const change = {
        ...(externalCustomerId === undefined ? {} : { externalCustomerId }),
        ...(name === undefined ? {} : { name }),
        ...(email === undefined ? {} : { email }),
        ...(phone === undefined ? {} : { phone }),
        ...(metadata === undefined ? {} : { metadata: metadata ?? {} }),
        ...(defaultTokenId === undefined ? {} : { defaultTokenId }),
      };
      return withIdempotency(deps.operations, request, claim, async (trx) => {
        const row = await updateCustomer(trx, request, params.id, change);
        return { ...jsonAnswer(200, presentCustomer(row)), resourceType: 'customer', resourceId: row.id };
      });
    },
  }),
];
