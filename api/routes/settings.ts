// A merchant's own settings, per mode: time zone of calendar days, enabled currencies, and the name (shared by both modes).
import { findSettings, updateSettings } from '../../models/merchant.ts';
import { withIdempotency } from '../../operations/with-idempotency.ts';
import { jsonAnswer } from '../../presenters/answer.ts';
import { presentSettings } from '../../presenters/settings.ts';
import { type Route, route } from '../route.ts';
import { currency, text } from '../schema/fields.ts';
import { z } from '../schema/zod.ts';

const settings = z.object({ name: z.string(), timezone: z.string(), currencies: z.array(z.string()) }).openapi('Settings');

const timezone = z
  .string()
  .max(64)
  .refine(isTimeZone, { message: 'must be an IANA time zone such as America/Jamaica.', params: { code: 'invalid' } })
  .openapi({ example: 'America/Jamaica' });

export const settingsRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/settings',
    tier: 'writes',
    operationId: 'retrieveSettings',
    summary: 'Retrieve settings',
    tag: 'Account',
    responses: { 200: { description: 'Settings of this mode.', schema: settings } },
    foreign: 'none',
    async handler({ deps, request }) {
      return jsonAnswer(200, presentSettings(await findSettings(deps.operations.db, request)));
    },
  }),
  route({
    method: 'PATCH',
    path: '/settings',
    tier: 'writes',
    operationId: 'updateSettings',
    summary: 'Change settings',
    tag: 'Account',
    body: z
      .strictObject({
        name: text(1, 250).optional(),
        timezone: timezone.optional(),
        currencies: z.array(currency).min(1).max(200).optional(),
      })
      .openapi('UpdateSettings'),
    responses: { 200: { description: 'The settings after the change.', schema: settings } },
    errors: ['currency_not_supported'],
    foreign: 'none',
    async handler({ deps, request, body, claim }) {
      return withIdempotency(deps.operations, request, claim, async (trx) => {
        const after = await updateSettings(trx, request, {
          ...(body.name === undefined ? {} : { name: body.name }),
          ...(body.timezone === undefined ? {} : { timezone: body.timezone }),
          ...(body.currencies === undefined ? {} : { currencies: [...new Set(body.currencies)] }),
        });
        return { ...jsonAnswer(200, presentSettings(after)), resourceType: null, resourceId: null };
      });
    },
  }),
];

function isTimeZone(name: string): boolean {
  // Offsets such as +02:00 are accepted by Intl but have no calendar of their own.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
