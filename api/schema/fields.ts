// The kinds of field that requests are made of, each with its rule, its own error code and its description for OpenAPI.
// Amounts are minor units. Specification: Checkout sessions; Limits.
import { exponentOf } from '../../domain/currency.ts';
import { parseRedirectUrl, redirectUrlMaxLength } from '../../domain/redirect-url.ts';
import { z } from './zod.ts';

/** A strict JSON integer: "100" and 1.5 are of the wrong type, anything outside the bounds has `code`. */
export function integer(min: number, max: number, code = 'out_of_range') {
  return z
    .number()
    .refine(Number.isInteger, { message: 'must be an integer.', params: { code: 'wrong_type' }, abort: true })
    .refine((value) => value >= min && value <= max, { message: `must be between ${min} and ${max}.`, params: { code } })
    .openapi({ type: 'integer', minimum: min, maximum: max });
}

export const maxAmountMinor = 99_999_999;

/** Money that moves: 1 to 99,999,999 minor units. */
export const amount = integer(1, maxAmountMinor, 'amount_out_of_range').openapi({ description: 'In the smallest unit of the currency.', example: 2500 });
/** Money that is only shown. */
export const shownAmount = integer(0, maxAmountMinor, 'amount_out_of_range').openapi({ description: 'In the smallest unit of the currency; shown only.' });

export const currency = z
  .string()
  .refine((code) => exponentOf(code) !== null, { message: 'must be an upper-case ISO 4217 code.', params: { code: 'currency_not_supported' } })
  .openapi({ description: 'ISO 4217, upper case, enabled for the merchant.', pattern: '^[A-Z]{3}$', example: 'USD' });

export const redirectUrl = z
  .string()
  .refine((text) => typeof parseRedirectUrl(text, 'test') === 'object', {
    message: `must be an absolute http or https address of at most ${redirectUrlMaxLength} characters, without user name, blanks or control characters.`,
    params: { code: 'invalid_url' },
  })
  .openapi({ format: 'uri', maxLength: redirectUrlMaxLength, description: 'http or https; with a live key https and a registered host.' });

export const httpsUrl = z
  .string()
  .refine((text) => typeof parseRedirectUrl(text, 'live') === 'object', { message: 'must be an https address.', params: { code: 'invalid_url' } })
  .openapi({ format: 'uri', maxLength: redirectUrlMaxLength });

export function text(min: number, max: number) {
  return z.string().min(min).max(max);
}

export const email = z
  .string()
  .max(254)
  .refine((value) => /^[^\s@]+@[^\s@]+$/.test(value), { message: 'must be an e-mail address.', params: { code: 'invalid_email' } })
  .openapi({ format: 'email' });

export const metadataLimits = { keys: 50, keyLength: 64, depth: 5, bytes: 16 * 1024 } as const;

/** Whatever the merchant likes to get back, within limits; returned on retrieve and in webhooks. */
export const metadata = z
  .custom<Record<string, unknown>>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), {
    message: 'must be an object.',
    params: { code: 'wrong_type' },
    abort: true,
  })
  .superRefine((value, context) => {
    const problem = metadataProblem(value);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem, params: { code: 'out_of_range' } });
  })
  .openapi({ type: 'object', additionalProperties: true, description: 'At most 50 keys of at most 64 characters in each object, five levels deep, 16 KiB as JSON.' });

function metadataProblem(value: Record<string, unknown>): string | null {
  const inside = objectProblem(value, 1);
  if (inside !== null) return inside;
  return Buffer.byteLength(JSON.stringify(value)) > metadataLimits.bytes ? 'must not exceed 16 KiB as JSON.' : null;
}

/** Stops at the depth limit, so a hostile nesting costs nothing. */
function objectProblem(value: unknown, depth: number): string | null {
  if (typeof value !== 'object' || value === null) return null;
  if (depth > metadataLimits.depth) return `must not be nested deeper than ${metadataLimits.depth} levels.`;
  if (!Array.isArray(value)) {
    const keys = Object.keys(value);
    if (keys.length > metadataLimits.keys) return `must not have more than ${metadataLimits.keys} keys in an object.`;
    if (keys.some((key) => key.length > metadataLimits.keyLength)) return `must not have keys longer than ${metadataLimits.keyLength} characters.`;
  }
  for (const inner of Object.values(value)) {
    const problem = objectProblem(inner, depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}
