// GET /healthz: this process answers. GET /readyz: everything it needs does, with the state of each part. GET /metrics:
// only where no port of its own was given, and only to this machine.
import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import type { ApiDeps, ReadinessCheck } from './deps.ts';
import type { ClientAddresses } from './middleware/client-address.ts';
import { setJson } from './middleware/headers.ts';

const checkTimeoutMs = 2_000;

export function health(deps: Pick<ApiDeps, 'readiness' | 'log' | 'config' | 'record'>, addresses: ClientAddresses): Middleware {
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      await next();
    } else if (ctx.path === '/healthz') {
      setJson(ctx, { status: 200, body: '{"status":"ok"}' });
    } else if (ctx.path === '/readyz') {
      const results = await Promise.all(deps.readiness.map((check) => outcome(deps, check)));
      const ready = results.every(([, result]) => result === 'ok');
      const body = { status: ready ? 'ready' : 'not_ready', checks: Object.fromEntries(results), warnings: addresses.warnings() };
      setJson(ctx, { status: ready ? 200 : 503, body: JSON.stringify(body) });
    } else if (ctx.path === '/metrics' && deps.config.metricsPort === null && isLocal(ctx.req)) {
      const { registry } = deps.record.metrics;
      ctx.type = registry.contentType;
      ctx.body = await registry.metrics();
    } else {
      await next();
    }
  };
}

/** A proxy on this machine is a neighbour too: what it forwards is not. */
function isLocal(request: IncomingMessage): boolean {
  const { 'x-forwarded-for': forwardedFor, forwarded, via } = request.headers;
  return forwardedFor === undefined && forwarded === undefined && via === undefined && /^(::1|(::ffff:)?127\.)/.test(request.socket.remoteAddress ?? '');
}

async function outcome(deps: Pick<ApiDeps, 'log'>, { name, check }: ReadinessCheck): Promise<[string, 'ok' | 'failing' | 'timeout']> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(resolve, checkTimeoutMs, 'timeout');
  });
  const done = check().then(
    () => 'ok' as const,
    (error: unknown) => {
      deps.log.warn({ err: error, check: name }, 'not ready');
      return 'failing' as const;
    },
  );
  const result = await Promise.race([done, timeout]);
  clearTimeout(timer);
  return [name, result];
}
