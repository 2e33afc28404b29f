// What a customer request may hold, and what comes back. Specification: Customer.
import { email, metadata, text } from './fields.ts';
import { z } from './zod.ts';

const fields = {
  external_customer_id: text(1, 255).nullish().openapi({ description: 'Your own id of this customer; unique.' }),
  name: text(0, 250).nullish(),
  email: email.nullish(),
  phone: text(0, 50).nullish(),
  metadata: metadata.nullish(),
};

export const createCustomerBody = z.strictObject(fields).openapi('CreateCustomer');

export const updateCustomerBody = z
  .strictObject({
    ...fields,
    metadata: metadata.nullish().openapi({ description: 'Takes the place of all metadata there was.' }),
    default_token_id: z.string().nullish().openapi({ description: 'An active card of this customer; null: the newest one.' }),
  })
  .openapi('UpdateCustomer');

const nullableText = z.string().nullable();

export const customer = z
  .object({
    id: z.string(),
    external_customer_id: nullableText,
    name: nullableText,
    email: nullableText,
    phone: nullableText,
    mode: z.enum(['test', 'live']),
    default_token_id: nullableText,
    tokens_count: z.int(),
    metadata: z.record(z.string(), z.unknown()),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('Customer');
