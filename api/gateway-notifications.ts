// POST /gateway-notifications/{gateway}: a gateway says that something changed. Verified over its bytes, heard once, and
// only a reason to look up: nothing in it is believed. Outside /api/v1, since gateways have no key.
import type { Middleware } from 'koa';
import { DomainError } from '../domain/errors.ts';
import type { NotificationVerifier } from '../gateways/notification.ts';
import type { Database } from '../models/database.ts';
import { finishNotification, takeNotification } from '../models/gateway-notification.ts';
import { findOpenGatewayWork } from '../models/open-gateway-work.ts';
import type { LookUpDoor } from '../temporal/look-up-door.ts';
import { setJson } from './middleware/headers.ts';
import { readBytes } from './request-body.ts';

export interface GatewayNotificationDeps {
  readonly db: Database;
  readonly verifier: NotificationVerifier;
  readonly lookUp: LookUpDoor;
  readonly log: { info(fields: object, message: string): void };
}

const bodyLimitBytes = 64 * 1024;
const address = /^\/gateway-notifications\/([a-z0-9_]{1,40})$/;
const plausibleId = /^[\x21-\x7e]{1,255}$/;

export function gatewayNotifications(deps: GatewayNotificationDeps): Middleware {
  return async (ctx, next) => {
    const gateway = ctx.method === 'POST' ? address.exec(ctx.path)?.[1] : undefined;
    if (gateway === undefined) return next();
    if (!deps.verifier.knows(gateway)) throw new DomainError('not_found', 'No gateway of this name reports here.');
    const rawBody = (await readBytes(ctx.req, bodyLimitBytes)).toString('utf8');
    const { account } = ctx.query;
    const header = (name: string): string | undefined => [ctx.req.headers[name]].flat()[0];
    const verified = await deps.verifier.verify(gateway, { rawBody, header, account: typeof account === 'string' && account !== '' ? account : null, nowMs: Date.now() });
    // One answer whatever was wrong: a forger learns nothing.
    if (verified === null || !plausibleId.test(verified.notification.id)) {
      throw new DomainError('malformed_request', 'This is not a notification of the gateway: its signature, its age or its form is not right.');
    }
    const { notification, owner } = verified;
    if (notification.reference !== null && (await takeNotification(deps.db, gateway, notification.id))) {
      const { id, type, reference, key } = notification;
      const work = await findOpenGatewayWork(deps.db, gateway, { reference, key }, owner);
      const handled = await lookUpAll(deps, gateway, id, work);
      deps.log.info({ gateway, notification: id, type, reference, lookedUp: handled ? work.length : 0 }, 'gateway notification');
      if (!handled) throw new DomainError('service_unavailable', 'What this notification is about cannot be looked up just now; send it again.', { retryAfterSeconds: 5 });
    }
    setJson(ctx, { status: 200, body: '{"received":true}' });
  };
}

/** The notification is remembered only when everything it is about was asked after; else the gateway's next try is heard. */
async function lookUpAll(deps: GatewayNotificationDeps, gateway: string, id: string, work: Parameters<LookUpDoor>[0][]): Promise<boolean> {
  let handled = false;
  try {
    const asked = await Promise.all(work.map((one) => deps.lookUp(one)));
    handled = asked.every((answer) => answer === 'asked');
  } finally {
    await finishNotification(deps.db, gateway, id, handled);
  }
  return handled;
}
