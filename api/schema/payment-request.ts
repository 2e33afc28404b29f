// What requests that move money may hold. Specification: Payments and tokens.
import { amount, currency, metadata, redirectUrl, text } from './fields.ts';
import { z } from './zod.ts';

const orderId = text(1, 255).nullish();
const testClock = z
  .string()
  // There are no test clocks yet, so none is known.
  .refine(() => false, { message: 'is not a test clock of this merchant.', params: { code: 'test_clock_not_found' } })
  .nullish();

const money = {
  amount,
  currency,
  capture: z.boolean().nullish().openapi({ default: true, description: 'false only authorises; capture within 7 days.' }),
  description: text(0, 2000).nullish(),
  order_id: orderId,
  metadata: metadata.nullish(),
  gateway: text(1, 64).nullish(),
  success_url: redirectUrl.nullish(),
  failure_url: redirectUrl.nullish(),
  test_clock: testClock,
};

export const createPaymentBody = z
  .strictObject({
    ...money,
    payment_token_id: z.string().nullish().openapi({ description: 'A saved card to charge; without one the customer pays on a hosted page.' }),
    token_id: z.string().nullish().openapi({ description: 'Another name of payment_token_id.' }),
    customer_id: z.string().nullish(),
    cancel_url: redirectUrl.nullish(),
  })
  .openapi('CreatePayment');

export const chargeTokenBody = z
  .strictObject({ ...money, token_id: z.string().nullish(), payment_token_id: z.string().nullish().openapi({ description: 'Another name of token_id.' }) })
  .openapi('ChargeToken');

export const captureBody = z.strictObject({ amount: amount.nullish().openapi({ description: 'At most what was authorised; all of it when left out.' }) }).openapi('CapturePayment');
export const voidBody = z.strictObject({ reason: text(0, 500).nullish() }).openapi('VoidPayment');
export const refundBody = z
  .strictObject({
    amount: amount.nullish().openapi({ description: 'All that remains when left out.' }),
    reason: text(0, 500).nullish(),
    order_id: orderId,
    metadata: metadata.nullish(),
  })
  .openapi('RefundPayment');

export const reservedPayment = z
  .object({
    id: z.string(),
    status: z.literal('pending'),
    amount: z.int(),
    currency: z.string(),
    session_id: z.string(),
    checkout_url: z.string().openapi({ format: 'uri' }),
    expires_at: z.iso.datetime(),
  })
  .openapi('ReservedPayment');
