// Asks after everything a gateway left unanswered, once it answers again. What is not reached here keeps its own schedule.
import type { Database } from '../models/database.ts';
import { unknownGatewayWork } from '../models/open-gateway-work.ts';
import type { LookUpDoor } from '../temporal/look-up-door.ts';

export interface LookUpUnknownDeps {
  readonly db: Database;
  readonly lookUp: LookUpDoor;
}

/** One circuit closes for one outage: what is beyond this waits for its own look-up. */
const most = 500;
/** A gateway that has just come back is not to be overrun. */
const parallel = 8;

/** @returns how many were asked after */
export async function lookUpUnknown(deps: LookUpUnknownDeps, gateway: string): Promise<number> {
  const work = await unknownGatewayWork(deps.db, gateway, most);
  for (let i = 0; i < work.length; i += parallel) await Promise.all(work.slice(i, i + parallel).map((one) => deps.lookUp(one)));
  return work.length;
}
