// The gateway_notifications table: which notifications were acted upon, so that one sent twice is not. Unscoped: a
// notification belongs to a gateway; whose payment it is about is read from the payment.
import type { Database, Statement } from './database.ts';

const takeStatement: Statement = {
  name: 'take-gateway-notification',
  text: `insert into gateway_notifications (gateway, notification_id) values ($1, $2)
    on conflict (gateway, notification_id) do update set received_at = now()
      where gateway_notifications.handled_at is null and gateway_notifications.received_at < now() - interval '30 seconds'
    returning notification_id`,
};

/** @returns false when it was handled before, or is being handled right now (one whose process died is taken again) */
export async function takeNotification(db: Database, gateway: string, notificationId: string): Promise<boolean> {
  return (await db.runAlone(takeStatement, [gateway, notificationId])).length > 0;
}

const handledStatement: Statement = {
  name: 'gateway-notification-handled',
  text: `update gateway_notifications set handled_at = now() where gateway = $1 and notification_id = $2`,
};
const releaseStatement: Statement = {
  name: 'release-gateway-notification',
  text: `delete from gateway_notifications where gateway = $1 and notification_id = $2 and handled_at is null`,
};

/** @param handled false: what it asks for could not be begun, and the gateway's next try shall be heard */
export async function finishNotification(db: Database, gateway: string, notificationId: string, handled: boolean): Promise<void> {
  await db.runAlone(handled ? handledStatement : releaseStatement, [gateway, notificationId]);
}

const dropStatement: Statement = {
  name: 'drop-old-gateway-notifications',
  text: `delete from gateway_notifications where ctid in (
    select ctid from gateway_notifications where received_at < now() - interval '30 days' limit $1)`,
};

/** Kept 30 days, longer than any gateway repeats itself. @returns how many went */
export async function dropOldNotifications(db: Database, limit: number): Promise<void> {
  await db.runAlone(dropStatement, [limit]);
}
