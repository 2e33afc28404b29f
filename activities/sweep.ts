// Makes up for what a crash or an outage left undone. Everything here is idempotent by id: a workflow that runs already is
// left alone, an attempt sent again attaches to itself.
import { waitingCardSetups } from '../models/card-setup.ts';
import { deliveriesWithoutWorkflow, markDeliveryWorkflows, takeOverdueDeliveries } from '../models/delivery.ts';
import { deleteOldEvents } from '../models/event.ts';
import { dropOldNotifications } from '../models/gateway-notification.ts';
import { dropExpiredIdempotencyKeys } from '../models/idempotency-key.ts';
import { foldListingCounts } from '../models/listing-count.ts';
import { dropIdleRateWindows } from '../models/rate-window.ts';
import { dropOldCalls } from '../models/request-log.ts';
import { authorizationsWithoutWorkflow, markLapseStarted, stuckMoneyOperations } from '../models/payment-lapse.ts';
import { overdueSessions, sessionsWithoutWorkflow, stuckAttempts } from '../models/session-moves.ts';
import { finishAbandonedKeys } from '../operations/carry-out.ts';
import type { OperationDeps } from '../operations/deps.ts';
import type { WebhookDeliveryInput } from '../temporal/contract.ts';
import type { CardSetupDoor } from '../temporal/card-setup-door.ts';
import type { PaymentDoor } from '../temporal/payment-door.ts';
import type { SessionDoor } from '../temporal/session-door.ts';

export interface SweepActivities {
  /** @returns how many rows each duty touched */
  sweepOnce(): Promise<Readonly<Record<string, number>>>;
}

export interface SweepDeps {
  readonly operations: OperationDeps;
  readonly sessions: SessionDoor;
  readonly payments: PaymentDoor;
  readonly cardSetups: CardSetupDoor;
  readonly startDelivery: (input: WebhookDeliveryInput) => Promise<void>;
  readonly log: { info(fields: object, message: string): void; error(fields: object, message: string): void };
}

/** A run stays well under its minute; what is left is the next run's. */
const batch = 500;
/** Deltas of listing totals; one statement, which keeps pace with a thousand payments a second. */
const foldedAtOnce = 20_000;
/** Calls to Temporal at once: the sweep must not crowd out customers. */
const parallel = 16;

export function createSweepActivities(deps: SweepDeps): SweepActivities {
  const { operations, sessions } = deps;
  const { db } = operations;

  /** One duty's failure must not keep the others from being done. */
  const duties: Readonly<Record<string, () => Promise<number>>> = {
    // A payment waits for its look-up in the lost workflow's place: started with the session's delay it would wait until
    // the session ends, and starting it once more later would only find it running.
    unstarted_sessions: async () =>
      inBatches(await sessionsWithoutWorkflow(db, batch), (session) => (session.attemptInFlight ? sessions.resumeSession(session) : sessions.startSession(session))),
    stuck_attempts: async () => inBatches(await stuckAttempts(db, batch), (row) => sessions.pay(row, row.attemptId)),
    overdue_sessions: async () => inBatches(await overdueSessions(db, batch), (session) => sessions.resumeSession(session)),
    waiting_card_setups: async () => inBatches(await waitingCardSetups(db, batch), (setup) => deps.cardSetups.startCardSetup(setup)),
    stuck_operations: async () =>
      inBatches(await stuckMoneyOperations(db, batch), (row) => deps.payments.start(row, { kind: row.kind, operationId: row.operationId, transactionId: row.id })),
    unwatched_authorizations: async () =>
      inBatches(await authorizationsWithoutWorkflow(db, batch), async (row) => {
        await deps.payments.startLapse(row, { transactionId: row.id, lapsesAtMs: (row.lapsesAt ?? row.readAt).getTime() });
        await markLapseStarted(db, [row.id]);
      }),
    unfinished_keys: () => finishAbandonedKeys(operations, batch),
    overdue_deliveries: async () => {
      const leased = await takeOverdueDeliveries(db, batch);
      operations.offerDeliveries(leased);
      return leased.length;
    },
    unstarted_deliveries: async () =>
      inBatches(await deliveriesWithoutWorkflow(db, batch), async (delivery) => {
        await deps.startDelivery(delivery);
        await markDeliveryWorkflows(db, [delivery.deliveryId]);
      }),
    listing_counts: () => uncounted(foldListingCounts(db, foldedAtOnce)),
    expired_keys: () => uncounted(dropExpiredIdempotencyKeys(db, batch)),
    idle_rate_windows: () => uncounted(dropIdleRateWindows(db, batch)),
    old_events: () => uncounted(deleteOldEvents(db, batch)),
    old_calls: () => uncounted(dropOldCalls(db, batch)),
    old_gateway_notifications: () => uncounted(dropOldNotifications(db, batch)),
  };

  return {
    async sweepOnce() {
      const counts: Record<string, number> = {};
      for (const [name, duty] of Object.entries(duties)) {
        try {
          counts[name] = await duty();
        } catch (error) {
          deps.log.error({ err: error, duty: name }, 'a duty of the sweep failed; the next run tries again');
        }
      }
      if (Object.values(counts).some((count) => count > 0)) deps.log.info({ counts }, 'swept');
      return counts;
    },
  };
}

/** Housekeeping nobody needs a number of. */
async function uncounted(work: Promise<unknown>): Promise<number> {
  await work;
  return 0;
}

async function inBatches<Row>(rows: readonly Row[], work: (row: Row) => Promise<unknown>): Promise<number> {
  for (let i = 0; i < rows.length; i += parallel) await Promise.all(rows.slice(i, i + parallel).map(work));
  return rows.length;
}
