// Query parameters of listings. Unknown parameters are ignored; `limit` above 100 clamps. Specification: Listings, Limits.
import type { Scope } from '../../domain/mode.ts';
import type { Database } from '../../models/database.ts';
import { merchantDays } from '../../models/merchant.ts';
import { z } from './zod.ts';

export const maxPageLimit = 100;
export const defaultPageLimit = 25;

/** Fifteen digits stay exact, and times 100 they still fit a bigint offset. */
const wholeNumber = /^[0-9]{1,15}$/;

function positive(fallback: number) {
  return z
    .string()
    .refine((text) => wholeNumber.test(text) && Number(text) >= 1, { message: 'must be an integer of at least 1.', params: { code: 'out_of_range' } })
    .transform(Number)
    .optional()
    .transform((value) => value ?? fallback)
    .openapi({ type: 'integer', minimum: 1, default: fallback });
}

export const pageFields = {
  page: positive(1),
  limit: positive(defaultPageLimit)
    .transform((limit) => Math.min(limit, maxPageLimit))
    .openapi({ type: 'integer', minimum: 1, default: defaultPageLimit, description: `Values above ${maxPageLimit} count as ${maxPageLimit}.` }),
};

const day = /^\d{4}-\d{2}-\d{2}$/;
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/;

function isMoment(text: string): boolean {
  if (!day.test(text) && !timestamp.test(text)) return false;
  // Postgres has no year 0.
  if (text.startsWith('0000')) return false;
  const parsed = new Date(day.test(text) ? `${text}T00:00:00Z` : text);
  // Date.parse lets 31 February pass as 2 or 3 March.
  return !Number.isNaN(parsed.getTime()) && (!day.test(text) || parsed.toISOString().startsWith(text)) && isRealDay(text.slice(0, 10));
}

function isRealDay(text: string): boolean {
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text);
}

export const moment = z
  .string()
  .refine(isMoment, { message: 'must be a date (2026-01-31) or an ISO 8601 timestamp with its zone.', params: { code: 'invalid_date' } })
  .optional()
  .openapi({ description: 'A date in the merchant\'s time zone, inclusive, or a full timestamp.', example: '2026-01-31' });

export const rangeFields = { from: moment, to: moment };

/** @returns instants; `until` is exclusive, and a `to` given as a timestamp is included to its millisecond */
export async function readRange(db: Database, scope: Scope, query: { from?: string | undefined; to?: string | undefined }): Promise<{ from: Date | undefined; until: Date | undefined }> {
  const fromDay = query.from !== undefined && day.test(query.from) ? query.from : null;
  const toDay = query.to !== undefined && day.test(query.to) ? query.to : null;
  const days = fromDay === null && toDay === null ? { from: null, until: null } : await merchantDays(db, scope, { from: fromDay, to: toDay });
  return {
    from: days.from ?? (query.from === undefined ? undefined : new Date(query.from)),
    until: days.until ?? (query.to === undefined ? undefined : new Date(new Date(query.to).getTime() + 1)),
  };
}

export const pageMeta = z
  .object({ current_page: z.int(), last_page: z.int(), per_page: z.int(), total: z.int() })
  .openapi('PageMeta');

export function pageOf(item: z.ZodType) {
  return z.object({ data: z.array(item), meta: pageMeta });
}
