// GET /healthz: this process answers. GET /readyz: everything it needs does, with a reason for each part that does not.
import type { Middleware } from 'koa';
import type { ApiDeps, ReadinessCheck } from './deps.ts';
import type { ClientAddresses } from './middleware/client-address.ts';
import { setJson } from './middleware/headers.ts';

const checkTimeoutMs = 2_000;

export function health(deps: Pick<ApiDeps, 'readiness' | 'log'>, addresses: ClientAddresses): Middleware {
  return async (ctx, next) => {
    if ((ctx.method === 'GET' || ctx.method === 'HEAD') && ctx.path === '/healthz') {
      setJson(ctx, { status: 200, body: '{"status":"ok"}' });
    } else if ((ctx.method === 'GET' || ctx.method === 'HEAD') && ctx.path === '/readyz') {
      const results = await Promise.all(deps.readiness.map((check) => outcome(deps, check)));
      const ready = results.every(([, result]) => result === 'ok');
      const body = { status: ready ? 'ready' : 'not_ready', checks: Object.fromEntries(results), warnings: addresses.warnings() };
      setJson(ctx, { status: ready ? 200 : 503, body: JSON.stringify(body) });
    } else {
      await next();
    }
  };
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
