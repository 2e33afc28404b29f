// What a row of the routes table says. Middleware, OpenAPI and the access tests follow from it; it does nothing itself.
import type { ErrorCode } from '../domain/errors.ts';
import type { IdKind } from '../domain/id.ts';
import type { RateTier } from '../domain/rate-tier.ts';
import type { Answer, RequestScope } from '../operations/deps.ts';
import type { IdempotencyClaim } from '../operations/idempotency.ts';
import type { ApiDeps } from './deps.ts';
import type { z } from './schema/zod.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Names in braces inside a path: `/checkout-sessions/{id}` has `id`. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<Rest>
  : unknown;

/** The caller, admitted: scope and Postgres' clock, and what the log needs. */
export interface AdmittedRequest extends RequestScope {
  readonly requestId: string;
  /** Empty for public routes. */
  readonly keyId: string;
  readonly signal?: AbortSignal;
}

export interface RouteContext<Params = unknown, Query = unknown, Body = unknown> {
  readonly deps: ApiDeps;
  readonly request: AdmittedRequest;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Present when the caller sent an Idempotency-Key and no answer is stored for it yet. */
  readonly claim: IdempotencyClaim | null;
}

export interface RouteResponse {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Anything but JSON; no schema then. */
  readonly contentType?: string;
}

/** How the route answers an id of another merchant or mode; `none`: it takes no ids. */
export type ForeignAnswer = 'none' | 'not_found' | 'empty' | 'validation';

export interface Route {
  readonly method: Method;
  /** Below /api/v1. */
  readonly path: string;
  readonly tier: RateTier;
  /** Whether an Idempotency-Key is honoured: every POST, PUT and PATCH. */
  readonly idempotent: boolean;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** The kinds of id a parameter may be; a text of another form is answered like an absent id. `text`: anything. */
  readonly ids: Readonly<Record<string, IdKind | readonly IdKind[] | 'text'>>;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Beyond those every route of its kind can answer. */
  readonly errors: readonly ErrorCode[];
  readonly foreign: ForeignAnswer;
  /**
   * The statement that writes the effect takes the idempotency key as well, and nothing is done before it: then a key is
   * looked up only when it was not fresh, or when the request was refused.
   */
  readonly takesKeyItself: boolean;
  handler(context: RouteContext<never, never, never>): Promise<Answer>;
}

interface RouteRow<Path extends string, Query extends z.ZodType, Body extends z.ZodType> {
  readonly method: Method;
  readonly path: Path;
  readonly tier: RateTier;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly ids?: { readonly [K in keyof PathParams<Path>]: IdKind | readonly IdKind[] | 'text' };
  readonly query?: Query;
  readonly body?: Body;
  readonly responses: Readonly<Record<number, RouteResponse>>;
  readonly errors?: readonly ErrorCode[];
  readonly foreign: ForeignAnswer;
  readonly takesKeyItself?: boolean;
  readonly handler: (context: RouteContext<PathParams<Path>, z.output<Query>, z.output<Body>>) => Promise<Answer>;
}

/** Makes a row; its handler's parameters, query and body are typed by its path and schemas. */
export function route<const Path extends string, Query extends z.ZodType = z.ZodUnknown, Body extends z.ZodType = z.ZodUnknown>(
  row: RouteRow<Path, Query, Body>,
): Route {
  return { ...row, ids: row.ids ?? {}, errors: row.errors ?? [], takesKeyItself: row.takesKeyItself ?? false, idempotent: row.method !== 'GET' && row.method !== 'DELETE' } as Route;
}
