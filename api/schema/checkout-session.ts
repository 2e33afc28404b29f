// What a checkout session request may hold, and what comes back. Specification: Checkout sessions.
import { expiresInMinutes, sessionStatuses } from '../../domain/checkout-session.ts';
import { amount, currency, email, httpsUrl, integer, metadata, redirectUrl, shownAmount, text } from './fields.ts';
import { z } from './zod.ts';

/** Keeps quantity times price times items below 2^53. */
const maxQuantity = 99_999;

const lineItem = z
  .strictObject({
    name: text(1, 250),
    description: text(0, 1000).nullish(),
    quantity: integer(1, maxQuantity).nullish().openapi({ default: 1 }),
    unit_amount: shownAmount,
    sku: text(0, 100).nullish(),
    image_url: httpsUrl.nullish(),
    tax_amount: shownAmount.nullish(),
  })
  .openapi('LineItemInput');

const customer = z
  .strictObject({
    name: text(0, 250).nullish(),
    email: email.nullish(),
    phone: text(0, 50).nullish(),
    external_customer_id: text(1, 255).nullish(),
  })
  .openapi('CustomerInput');

const expiry = integer(expiresInMinutes.min, expiresInMinutes.max).nullish().openapi({ default: expiresInMinutes.default });

export const createSessionBody = z
  .strictObject({
    amount,
    currency,
    success_url: redirectUrl,
    failure_url: redirectUrl,
    cancel_url: redirectUrl.nullish(),
    description: text(0, 2000).nullish(),
    customer: customer.nullish(),
    customer_id: z.string().nullish().openapi({ description: 'A known customer; its saved cards are offered on the page.' }),
    line_items: z.array(lineItem).max(100).nullish(),
    subtotal: shownAmount.nullish(),
    tax_name: text(0, 100).nullish(),
    tax_rate: z.number().min(0).max(1).nullish().openapi({ description: 'A share: 0.15 means 15 percent.' }),
    tax_amount: shownAmount.nullish(),
    metadata: metadata.nullish(),
    gateway: text(1, 64).nullish().openapi({ description: 'Slug of the preferred gateway.' }),
    expires_in_minutes: expiry,
    source: z
      .string()
      .refine((value) => /^[a-z0-9_-]{1,40}$/.test(value), { message: 'must have 1 to 40 of a-z, 0-9, _ and -.', params: { code: 'invalid' } })
      .nullish()
      .openapi({ pattern: '^[a-z0-9_-]{1,40}$', default: 'hosted_checkout', description: 'Name of a storefront integration.' }),
    save_payment_method: z.boolean().nullish().openapi({ default: true }),
    test_clock: z
      .string()
      // There are no test clocks yet, so none is known.
      .refine(() => false, { message: 'is not a test clock of this merchant.', params: { code: 'test_clock_not_found' } })
      .nullish(),
    locale: z
      .string()
      .refine((value) => /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}$/.test(value), { message: 'must be a language tag such as en or pt-BR.', params: { code: 'invalid' } })
      .nullish()
      .openapi({ example: 'en' }),
  })
  .openapi('CreateCheckoutSession');

export const recoverSessionBody = z
  .strictObject({
    success_url: redirectUrl.nullish(),
    failure_url: redirectUrl.nullish(),
    cancel_url: redirectUrl.nullish(),
    expires_in_minutes: expiry,
  })
  .openapi('RecoverCheckoutSession');

export const emptyBody = z.strictObject({});

export const createdSession = z
  .object({
    id: z.string(),
    status: z.enum(sessionStatuses),
    amount: z.int(),
    currency: z.string(),
    checkout_url: z.string().openapi({ format: 'uri' }),
    expires_at: z.iso.datetime(),
  })
  .openapi('CreatedCheckoutSession');

const sessionTransaction = z
  .object({
    id: z.string(),
    receipt_number: z.string(),
    status: z.string(),
    card_brand: z.string().nullable(),
    card_last4: z.string().nullable(),
    gateway_transaction_id: z.string().nullable(),
    token_id: z.string().nullable(),
  })
  .openapi('SessionTransaction');

export const session = z
  .object({
    id: z.string(),
    status: z.enum(sessionStatuses),
    amount: z.int(),
    currency: z.string(),
    description: z.string().nullable(),
    expires_at: z.iso.datetime(),
    completed_at: z.iso.datetime().nullable(),
    transaction: sessionTransaction.nullable(),
    metadata: z.record(z.string(), z.unknown()),
    gateway: z.string(),
    source: z.string(),
    customer_id: z.string().nullable(),
    customer: z
      .object({ id: z.string().nullable(), name: z.string().nullable(), email: z.string().nullable(), phone: z.string().nullable(), external_customer_id: z.string().nullable() })
      .nullable(),
    line_items: z.array(
      z.object({
        name: z.string(),
        description: z.string().nullable(),
        quantity: z.int(),
        unit_amount: z.int(),
        sku: z.string().nullable(),
        image_url: z.string().nullable(),
        tax_amount: z.int().nullable(),
      }),
    ),
    subtotal: z.int().nullable(),
    tax_name: z.string().nullable(),
    tax_rate: z.number().nullable(),
    tax_amount: z.int().nullable(),
    success_url: z.string(),
    failure_url: z.string(),
    cancel_url: z.string().nullable(),
    save_payment_method: z.boolean(),
    locale: z.string().nullable(),
    recovered_from: z.string().nullable(),
    mode: z.enum(['test', 'live']),
    created_at: z.iso.datetime(),
  })
  .openapi('CheckoutSession');
