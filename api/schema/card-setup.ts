// What a card setup request may hold, and what comes back. Specification: Payment tokens.
import { sessionStatuses } from '../../domain/checkout-session.ts';
import { redirectUrl } from './fields.ts';
import { z } from './zod.ts';

export const createCardSetupBody = z
  .strictObject({
    success_url: redirectUrl,
    failure_url: redirectUrl,
    cancel_url: redirectUrl.nullish(),
    subscription_id: z
      .string()
      // There are no subscriptions yet, so none is known.
      .refine(() => false, { message: 'is not a subscription of this merchant.', params: { code: 'subscription_not_found' } })
      .nullish()
      .openapi({ description: 'The subscription whose card the new one replaces.' }),
  })
  .openapi('CreateCardSetupSession');

export const createdCardSetup = z
  .object({ id: z.string(), setup_url: z.string().openapi({ format: 'uri' }), expires_at: z.iso.datetime() })
  .openapi('CreatedCardSetupSession');

export const cardSetup = z
  .object({
    id: z.string(),
    status: z.enum(sessionStatuses),
    customer_id: z.string(),
    subscription_id: z.string().nullable(),
    token_id: z.string().nullable(),
    expires_at: z.iso.datetime(),
    completed_at: z.iso.datetime().nullable(),
  })
  .openapi('CardSetupSession');
