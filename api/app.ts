// The HTTP application: request ids, errors, health, the API from its routes table, then the pages. Everything a route
// promises (key, limit, idempotency, schemas) is applied here from its row, in the order: authentication, rate limit,
// parse, idempotent replay, validation, and the handler's ownership and state.
import Koa from 'koa';
import { DomainError, validationError } from '../domain/errors.ts';
import type { Answer } from '../operations/deps.ts';
import { type Admission, type Admitted, createAdmission } from './admission.ts';
import type { ApiDeps } from './deps.ts';
import { gatewayNotifications } from './gateway-notifications.ts';
import { health } from './health.ts';
import { authenticate } from './middleware/authenticate.ts';
import { type ClientAddresses, createClientAddresses } from './middleware/client-address.ts';
import { answerError, RateLimited } from './middleware/errors.ts';
import { setJson } from './middleware/headers.ts';
import { readIdempotencyKey, runIdempotently } from './middleware/idempotency.ts';
import { readJsonBody } from './request-body.ts';
import type { AdmittedRequest, Route } from './route.ts';
import { routes } from './routes.ts';
import { toFieldErrors } from './schema/problems.ts';
import { findBadText } from './schema/text.ts';
import type { z } from './schema/zod.ts';
import { compileTable, hasPlausibleIds, missingMessage, type Match } from './table.ts';

export interface App {
  readonly koa: Koa;
  /** For pages: the same limits, counted in the same place. */
  readonly limits: Limits;
  /** Stops timers and writes what is still buffered. */
  close(): Promise<void>;
}

export interface Limits {
  /** Counts a form or a public POST against its address and, when given, against its session. @throws RateLimited */
  publicPost(ctx: Koa.Context, session?: string): Promise<void>;
  /** @throws RateLimited */
  publicRead(ctx: Koa.Context): Promise<void>;
}

/** What was learnt of a request on its way, for metrics and the request log. */
interface Trace {
  readonly startedAt: number;
  readonly requestId: string;
  match: Match | null;
  caller: AdmittedRequest | null;
  idempotencyKey: string | null;
  errorCode: string | null;
}

interface Parts {
  readonly deps: ApiDeps;
  readonly admission: Admission;
  readonly addresses: ClientAddresses;
  readonly find: (method: string, path: string) => Match | null;
}

const prefix = '/api/v1';

/** @param pages makes the middleware that answers everything outside the API, given the shared limits */
export function createApp(deps: ApiDeps, pages?: (limits: Limits) => Koa.Middleware): App {
  const admission = createAdmission(deps.operations.db);
  const addresses = createClientAddresses({
    trustedProxies: deps.config.trustedProxies,
    warn: (message, peer) => deps.log.warn({ peer }, message),
  });
  const parts: Parts = { deps, admission, addresses, find: compileTable(routes).find };
  const limits = createLimits(parts);
  const koa = new Koa();
  // Koa would print what it could not answer; ours are answered and logged below, the rest are sockets that went away.
  koa.silent = true;
  koa.use((ctx, next) => answerEverything(parts, ctx, next));
  koa.use(health(deps, addresses));
  if (deps.gatewayNotifications !== undefined) koa.use(gatewayNotifications(deps.gatewayNotifications));
  if (pages !== undefined) koa.use(pages(limits));
  koa.use(() => {
    throw new DomainError('not_found', 'There is nothing at this address.');
  });
  return { koa, limits, close: () => admission.close() };
}

async function answerEverything(parts: Parts, ctx: Koa.Context, next: Koa.Next): Promise<void> {
  const requestId = parts.deps.operations.newId('request');
  const trace: Trace = { startedAt: performance.now(), requestId, match: null, caller: null, idempotencyKey: null, errorCode: null };
  ctx.state['requestId'] = requestId;
  ctx.res.setHeader('X-Request-Id', requestId);
  const path = ctx.path;
  const isApi = path.startsWith('/api/') || path === '/api' || path === '/openapi.json';
  try {
    if (isApi) await answerApi(parts, ctx, trace, path);
    else await next();
  } catch (error) {
    answerFailure(parts, ctx, trace, error);
  }
  record(parts, ctx, trace, isApi);
}

async function answerApi(parts: Parts, ctx: Koa.Context, trace: Trace, path: string): Promise<void> {
  const match = path.startsWith(`${prefix}/`) ? parts.find(ctx.method, path.slice(prefix.length)) : path === '/openapi.json' ? parts.find(ctx.method, path) : null;
  trace.match = match;
  if (match === null) {
    // A caller with a valid key sees its limits here too.
    if (ctx.req.headers.authorization !== undefined) trace.caller = toRequest(await authenticate(ctx, parts.admission, parts.addresses, 'writes'), trace);
    throw new DomainError('not_found', `There is no ${ctx.method} at this path. See /openapi.json for what there is.`);
  }
  const { route } = match;
  const request = await admit(parts, ctx, trace, route);
  if (!route.idempotent) {
    setJson(ctx, await handle(parts.deps, match, request, ctx, null, null, []));
    return;
  }
  const key = readIdempotencyKey(ctx.req.headers['idempotency-key']);
  trace.idempotencyKey = key;
  const body = await readJsonBody(ctx.req);
  const badTexts = findBadText(body);
  if (badTexts[0]?.code === 'too_deep') throw validationError(badTexts);
  if (key === null || request.keyId === '') {
    setJson(ctx, await handle(parts.deps, match, request, ctx, body, null, badTexts));
    return;
  }
  const answer = await runIdempotently(parts.deps.operations, request, { key, method: route.method, path, body, isTakenByEffect: route.takesKeyItself }, (claim) =>
    handle(parts.deps, match, request, ctx, body, claim, badTexts),
  );
  if (answer.replayed) ctx.res.setHeader('Idempotent-Replayed', 'true');
  setJson(ctx, answer);
}

async function admit(parts: Parts, ctx: Koa.Context, trace: Trace, route: Route): Promise<AdmittedRequest> {
  if (route.tier === 'public-reads' || route.tier === 'public-posts') {
    const limit = route.tier === 'public-posts' ? parts.deps.config.publicPostsPerMinute : undefined;
    const { now } = orRefuse(await parts.admission.address(parts.addresses.of(ctx.req), route.tier, limit));
    return { merchantId: '', mode: 'test', now, keyId: '', requestId: trace.requestId };
  }
  trace.caller = toRequest(await authenticate(ctx, parts.admission, parts.addresses, route.tier), trace);
  return trace.caller;
}

function toRequest(caller: { merchantId: string; mode: 'test' | 'live'; now: Date; keyId: string }, trace: Trace): AdmittedRequest {
  return { merchantId: caller.merchantId, mode: caller.mode, now: caller.now, keyId: caller.keyId, requestId: trace.requestId };
}

/** Validation, then the handler. An id that cannot be one is answered like one that is not there. */
async function handle(
  deps: ApiDeps,
  match: Match,
  request: AdmittedRequest,
  ctx: Koa.Context,
  body: unknown,
  claim: Parameters<Route['handler']>[0]['claim'],
  badTexts: ReturnType<typeof findBadText>,
): Promise<Answer> {
  const { route, params } = match;
  const query = route.query === undefined ? undefined : check(route.query, ctx.query, findBadText(ctx.query));
  const checked = route.body === undefined ? undefined : check(route.body, body, badTexts);
  if (!hasPlausibleIds(match)) throw new DomainError('not_found', missingMessage(match));
  return route.handler({ deps, request, params: params as never, query: query as never, body: checked as never, claim });
}

/** @throws DomainError with every bad field of the value */
function check(schema: z.ZodType, value: unknown, known: ReturnType<typeof findBadText>): unknown {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success && known.length === 0) return result.data;
  const found = result.success ? [] : toFieldErrors(result.error.issues);
  throw validationError([...known, ...found.filter((error) => !known.some((other) => other.path === error.path))]);
}

function createLimits({ deps, admission, addresses }: Parts): Limits {
  return {
    async publicPost(ctx, session) {
      const limit = deps.config.publicPostsPerMinute;
      // Asked together, so that one statement decides both. A post the address has no room for counts for its session.
      const [address, own] = await Promise.all([
        admission.address(addresses.of(ctx.req), 'public-posts', limit),
        session === undefined ? null : admission.bucket(`session:${session}:public-posts`, limit),
      ]);
      orRefuse(address);
      if (own !== null) orRefuse(own);
    },
    async publicRead(ctx) {
      orRefuse(await admission.address(addresses.of(ctx.req), 'public-reads'));
    },
  };
}

function orRefuse(decision: Admitted): Admitted {
  if (!decision.allowed) throw new RateLimited(decision.retryAfter);
  return decision;
}

function answerFailure({ deps }: Parts, ctx: Koa.Context, trace: Trace, error: unknown): void {
  const answer = answerError(error, trace.requestId);
  trace.errorCode = answer.code;
  if (answer.isFault) deps.log.error({ err: error, requestId: trace.requestId, method: ctx.method, route: trace.match?.route.path, code: answer.code }, 'request failed');
  for (const [name, value] of Object.entries(answer.headers)) ctx.res.setHeader(name, value);
  // Nobody knows what else comes on a connection whose body was not read to its end.
  if (answer.status === 413 || answer.status === 408) ctx.res.setHeader('Connection', 'close');
  setJson(ctx, answer);
}

const createdId = /^\{"id":"([a-z_]+_[0-9a-z]{26})"/;

function record({ deps }: Parts, ctx: Koa.Context, trace: Trace, isApi: boolean): void {
  const durationMs = performance.now() - trace.startedAt;
  const { match, caller } = trace;
  const route = match === null ? (isApi ? 'unknown' : 'page') : match.route.path;
  deps.record.metrics.request(route, ctx.method, ctx.status, durationMs);
  // Strangers leave no rows: whoever has no key could fill the table.
  if (caller === null) return;
  const onlyIds = match !== null && Object.values(match.route.ids).every((kind) => kind !== 'text') && hasPlausibleIds(match);
  deps.record.calls.recordRequest({
    requestId: trace.requestId,
    merchantId: caller.merchantId,
    mode: caller.mode,
    keyId: caller.keyId,
    method: ctx.method,
    // A path is kept when it holds nothing but ids; free text could be anything.
    path: onlyIds ? ctx.path : route,
    resourceId: (onlyIds ? match.params['id'] : undefined) ?? (ctx.status === 201 && typeof ctx.body === 'string' ? (createdId.exec(ctx.body)?.[1] ?? null) : null),
    status: ctx.status,
    errorCode: trace.errorCode,
    durationMs: Math.round(durationMs),
    idempotencyKey: trace.idempotencyKey,
    createdAt: new Date(),
  });
}
