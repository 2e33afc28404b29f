// The switch that makes a whole gateway misbehave for a while, set by POST /control. It lives in memory only: a
// restarted simulator is well again.
import { invalid } from './refusal.ts';
import type { Fields } from './refusal.ts';
import { gatewaySlugs } from './rows.ts';
import type { GatewaySlug } from './rows.ts';

/**
 * down: 503 before anything is done. hang: nothing is done, nothing is answered. slow: 2.5 s later.
 * The others do the work first and then: malformed breaks the JSON, lost resets the connection, lost_hang never
 * answers, lost_502 answers 502, wrong_amount and wrong_currency tell another figure, oversized sends 10 MB.
 */
export const behaviours = ['ok', 'down', 'hang', 'slow', 'malformed', 'lost', 'lost_hang', 'lost_502', 'wrong_amount', 'wrong_currency', 'oversized'] as const;
export type Behaviour = (typeof behaviours)[number];

export const requestKinds = ['card', 'charge', 'lookup', 'cancel', 'capture', 'void', 'refund'] as const;
export type RequestKind = (typeof requestKinds)[number];

export interface Setting {
  readonly behaviour: Behaviour;
  readonly latencyMs: number;
  /** Which requests are touched; all when null. */
  readonly only: readonly RequestKind[] | null;
  readonly until: number;
  timesLeft: number;
}

const well: Setting = { behaviour: 'ok', latencyMs: 0, only: null, until: Infinity, timesLeft: Infinity };

export interface Control {
  /** Takes `{slug, behaviour?, for_ms?, times?, only?, latency_ms?}`; @throws Refusal naming the bad field */
  set(fields: Fields, nowMs: number): void;
  /** What to do to this request; counts it where `times` was given. */
  take(gateway: GatewaySlug, kind: RequestKind, nowMs: number): { behaviour: Behaviour; latencyMs: number };
}

export function createControl(): Control {
  const settings = new Map<GatewaySlug, Setting>();
  return {
    set(fields, nowMs) {
      const slug = oneOf(gatewaySlugs, fields.slug, 'slug');
      settings.set(slug, {
        behaviour: oneOf(behaviours, fields.behaviour ?? 'ok', 'behaviour'),
        latencyMs: wholeNumber(fields.latency_ms, 'latency_ms', 0),
        only: readKinds(fields.only),
        until: nowMs + wholeNumber(fields.for_ms, 'for_ms', Infinity),
        timesLeft: wholeNumber(fields.times, 'times', Infinity),
      });
    },
    take(gateway, kind, nowMs) {
      const setting = settings.get(gateway) ?? well;
      const applies = nowMs < setting.until && setting.timesLeft > 0 && (setting.only === null || setting.only.includes(kind));
      if (!applies) return well;
      setting.timesLeft -= 1;
      return setting;
    },
  };
}

function oneOf<T extends string>(allowed: readonly T[], value: unknown, field: string): T {
  const found = allowed.find((item) => item === value);
  if (found === undefined) throw invalid(field, `${field} is one of ${allowed.join(', ')}`);
  return found;
}

function wholeNumber(value: unknown, field: string, absent: number): number {
  if (value === undefined || value === null) return absent;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalid(field, `${field} is a whole number`);
}

function readKinds(value: unknown): readonly RequestKind[] | null {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) throw invalid('only', `only is a list of ${requestKinds.join(', ')}`);
  return value.map((kind) => oneOf(requestKinds, kind, 'only'));
}
