// The payment record and the refunds in it, as answers describe them. Specification: Transaction, Refund record.
import { transactionStatuses } from '../../domain/transaction.ts';
import { z } from './zod.ts';

const nullableText = z.string().nullable();
const nullableTime = z.iso.datetime().nullable();

export const refund = z
  .object({
    id: z.string(),
    payment_id: z.string(),
    amount: z.int(),
    currency: z.string(),
    status: z.enum(['pending', 'succeeded', 'failed']),
    reason: nullableText,
    type: z.enum(['full', 'partial']),
    receipt_number: z.string(),
    gateway_refund_id: nullableText,
    failure_code: nullableText,
    amount_refunded_total: z.int(),
    amount_refundable: z.int(),
    metadata: z.record(z.string(), z.unknown()),
    created_at: z.iso.datetime(),
    completed_at: nullableTime,
  })
  .openapi('Refund');

export const gatewayName = z.object({ name: z.string(), slug: z.string() }).openapi('GatewayName');

const itemFields = {
  id: z.string(),
  receipt_number: z.string(),
  status: z.enum(transactionStatuses),
  amount: z.int(),
  amount_captured: z.int(),
  amount_refunded: z.int(),
  amount_refundable: z.int(),
  currency: z.string(),
  mode: z.enum(['test', 'live']),
  source: z.string(),
  description: nullableText,
  customer: z.object({ id: nullableText, name: nullableText, email: nullableText, phone: nullableText }).nullable(),
  payment_method: z.object({ type: z.literal('card'), card_brand: nullableText, card_last4: nullableText, expiry_month: z.int().nullable(), expiry_year: z.int().nullable() }),
  card_brand: nullableText,
  card_last4: nullableText,
  gateway: gatewayName,
  gateway_transaction_id: nullableText,
  token_id: nullableText,
  session_id: nullableText,
  subscription_id: nullableText,
  payment_link: z.null(),
  order_id: nullableText,
  dispute: z.null(),
  pending_operation: nullableText.openapi({ description: 'The operation whose outcome is not known yet.' }),
  failure: z.object({ code: z.string(), decline_code: nullableText, message: z.string(), retryable: z.boolean() }).nullable(),
  metadata: z.record(z.string(), z.unknown()),
  created_at: z.iso.datetime(),
  authorized_at: nullableTime,
  captured_at: nullableTime,
  voided_at: nullableTime,
};

/** In listings. */
export const paymentItem = z.object(itemFields).openapi('PaymentItem');

export const payment = z
  .object({ ...itemFields, custom_field_responses: z.array(z.unknown()), refunds: z.array(refund) })
  .openapi('Payment');
