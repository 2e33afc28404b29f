// The body of an event as receivers get it. Made once, in the statement that moves the state, and sent byte for byte on
// every attempt; nothing here reads or writes anything.
import { type EventName, payloadVersion, type ResourceType } from '../domain/event.ts';
import type { Mode } from '../domain/mode.ts';
import type { NewEvent } from '../models/outbox.ts';

export interface EventInput {
  /** `evt_…` */
  readonly id: string;
  readonly type: EventName;
  readonly mode: Mode;
  readonly createdAt: Date;
  /** Rises by one within the resource, from 1. */
  readonly sequence: number;
  readonly resourceType: ResourceType;
  readonly resourceId: string;
  /** The payload in wire names, as a presenter made it. */
  readonly data: object;
}

/** Wraps a payload in the envelope; `body` of the result is final. */
export function makeEvent(input: EventInput): NewEvent {
  const envelope = {
    id: input.id,
    event: input.type,
    version: payloadVersion,
    mode: input.mode,
    created_at: input.createdAt.toISOString(),
    sequence: input.sequence,
    resource: { type: input.resourceType, id: input.resourceId },
    data: input.data,
  };
  return {
    id: input.id,
    type: input.type,
    resourceType: input.resourceType,
    resourceId: input.resourceId,
    sequence: input.sequence,
    createdAt: input.createdAt,
    body: JSON.stringify(envelope),
  };
}
