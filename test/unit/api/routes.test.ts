// The routes table against the specification's: endpoints, tiers and limits. Rows of later parts of the specification are
// compared as soon as they exist.
import { describe, expect, it } from 'vitest';
import { routes } from '../../../api/routes.ts';
import { rateTiers, rateWindowMs, type RateTier } from '../../../domain/rate-tier.ts';

/** Specification: Limits, second table. */
const specified: readonly (readonly [string, RateTier])[] = [
  ['POST /payments', 'payment-mutations'], ['POST /payments/{id}/capture', 'payment-mutations'], ['POST /payments/{id}/refund', 'payment-mutations'], ['POST /payments/{id}/void', 'payment-mutations'],
  ['POST /tokenize', 'payment-mutations'], ['POST /charge-token', 'payment-mutations'], ['POST /subscriptions', 'payment-mutations'], ['POST /subscriptions/{id}/cancel', 'payment-mutations'],
  ['POST /payment-tokens/{id}/deactivate', 'payment-mutations'],
  ['GET /payments/{id}', 'writes'], ['POST /checkout-sessions', 'writes'], ['GET /checkout-sessions/{id}', 'writes'], ['GET /subscriptions', 'writes'], ['GET /subscriptions/{id}', 'writes'],
  ['POST /subscriptions/{id}/pause', 'writes'], ['POST /subscriptions/{id}/resume', 'writes'], ['PUT /subscriptions/{id}/payment-method', 'writes'], ['GET /transactions', 'writes'], ['GET /customers', 'writes'],
  ['GET /customers/{id}/payment-tokens', 'writes'], ['GET /payment-links', 'writes'], ['POST /payment-links', 'writes'], ['GET /payment-links/{id}', 'writes'],
  ['POST /zapier/subscriptions', 'writes'], ['DELETE /zapier/subscriptions/{id}', 'writes'], ['GET /zapier/sample-payments', 'writes'],
];
/** What the service can do so far. */
const served = ['POST /checkout-sessions', 'GET /checkout-sessions/{id}'];

const table = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));

describe('the routes table', () => {
  it('has the specification\'s limits', () => {
    expect(rateWindowMs).toBe(60_000);
    expect(rateTiers).toMatchObject({ 'payment-mutations': 60, writes: 120, 'public-reads': 300 });
  });

  it('serves what the service can do so far', () => {
    expect([...table.keys()]).toEqual(expect.arrayContaining(served));
  });

  it.each(specified.filter(([name]) => table.has(name)))('has %s in the tier %s', (name, tier) => {
    expect(table.get(name)?.tier).toBe(tier);
  });

  it.each([...table])('%s honours an Idempotency-Key exactly when it writes', (_, route) => {
    expect(route.idempotent).toBe(['POST', 'PUT', 'PATCH'].includes(route.method));
    if (route.idempotent) expect(route.body, 'a schema that refuses unknown fields').toBeDefined();
  });

  it.each([...table])('%s names the kind of each id in its path', (_, route) => {
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(route.ids)).toEqual(names);
    if (names.length > 0) expect(['not_found', 'empty']).toContain(route.foreign);
  });

  it.each([...table].filter(([, route]) => route.body !== undefined))('%s refuses unknown fields', (_, route) => {
    const issues = route.body?.safeParse({ surely_no_field: 1 }).error?.issues ?? [];
    expect(issues.some((issue) => issue.code === 'unrecognized_keys')).toBe(true);
  });

  it('has each operation id once', () => {
    expect(new Set(routes.map((route) => route.operationId)).size).toBe(routes.length);
  });
});
