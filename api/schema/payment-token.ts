// What saving a card takes, and saved cards as answers describe them. Messages never repeat what was sent.
// Specification: Payment token.
import { passesLuhn } from '../../domain/card.ts';
import { integer, text } from './fields.ts';
import { gatewayName } from './payment.ts';
import { z } from './zod.ts';

/** As people write card numbers: blanks and hyphens between the digits do not count. */
export function digitsOf(number: string): string {
  return number.replace(/[ -]/g, '');
}

const card = z
  .strictObject({
    number: z
      .string()
      .refine((number) => number.length <= 40 && passesLuhn(digitsOf(number)), { message: 'must be a card number.', params: { code: 'invalid_card_number' } })
      .openapi({ writeOnly: true, description: '12 to 19 digits.' }),
    expiry_month: integer(1, 12),
    expiry_year: integer(2000, 2199).openapi({ description: 'Four digits.' }),
    cvc: z
      .string()
      .refine((cvc) => /^\d{3,4}$/.test(cvc), { message: 'must have 3 or 4 digits.', params: { code: 'invalid_cvc' } })
      .openapi({ writeOnly: true, pattern: '^[0-9]{3,4}$' }),
    name: text(0, 250).nullish(),
  })
  .openapi('CardInput');

export const tokenizeBody = z
  .strictObject({
    card: card.nullish(),
    payment_id: z.string().nullish().openapi({ description: 'Instead of a card: an approved payment whose card to save.' }),
    customer_id: z.string().nullish(),
    external_customer_id: text(1, 255).nullish().openapi({ description: 'Instead of customer_id: your own id; a customer is made when it is new.' }),
    gateway: text(1, 64).nullish().openapi({ description: 'Slug of the gateway that keeps the card.' }),
  })
  .superRefine((body, context) => {
    const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
    if (!isGiven(body.card) && !isGiven(body.payment_id)) {
      context.addIssue({ code: 'custom', path: ['card'], message: 'is required, unless payment_id is given.', params: { code: 'required' } });
    }
    if (isGiven(body.card) && isGiven(body.payment_id)) {
      context.addIssue({ code: 'custom', path: ['payment_id'], message: 'must not be given together with card.', params: { code: 'not_allowed' } });
    }
    if (isGiven(body.customer_id) && isGiven(body.external_customer_id)) {
      context.addIssue({ code: 'custom', path: ['external_customer_id'], message: 'must not be given together with customer_id.', params: { code: 'not_allowed' } });
    }
  })
  .openapi('Tokenize');

const status = z.enum(['active', 'deactivated']);

export const paymentToken = z
  .object({
    id: z.string(),
    status,
    brand: z.string(),
    last4: z.string(),
    expiry_month: z.int(),
    expiry_year: z.int(),
    fingerprint: z.string().openapi({ description: 'Equal for equal cards at one gateway; differs between merchants.' }),
    gateway: gatewayName,
    customer_id: z.string(),
    created_at: z.iso.datetime(),
  })
  .openapi('PaymentToken');

export const deactivation = z
  .object({ id: z.string(), status, deactivated_at: z.iso.datetime().nullable(), affected_subscriptions: z.array(z.string()) })
  .openapi('TokenDeactivation');
