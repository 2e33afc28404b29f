// Events as they were sent: the stored body is the envelope, byte for byte. Rows are written by the statements that move
// a state (outbox); here they are read and, once old, removed.
import type { EventName, ResourceType } from '../domain/event.ts';
import type { Mode } from '../domain/mode.ts';
import { BaseModel } from './base.ts';
import type { Database, Statement } from './database.ts';

/** Days an event and its deliveries are kept. */
export const eventRetentionDays = 90;

export class Event extends BaseModel {
  static override tableName = 'events';
  declare id: string;
  declare merchantId: string;
  declare mode: Mode;
  declare type: EventName;
  declare resourceType: ResourceType;
  declare resourceId: string;
  declare sequence: number;
  declare body: string;
  declare createdAt: Date;
  declare insertedAt: Date;
}

// The last sequence of a resource is found in its own row, so removing its events cannot give a number twice.
const deleteStatement: Statement = {
  name: 'delete-old-events',
  text: `delete from events where id in (
      select id from events where inserted_at < now() - interval '${eventRetentionDays} days' order by inserted_at limit $1)
    returning id`,
};

/** For the sweep: removes at most `limit` events past their retention, with deliveries and attempts. @returns how many */
export async function deleteOldEvents(db: Database, limit: number): Promise<number> {
  return (await db.runAlone(deleteStatement, [limit])).length;
}
