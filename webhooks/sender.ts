// Sends what this process just committed, directly and once; whatever does not get its 2xx is handed to a durable
// workflow. Bounded in every direction. It may lose a delivery only in memory: leases run out and the sweep takes over.
import { attemptTimeoutMs, directAttemptTimeoutMs } from '../domain/delivery-schedule.ts';
import type { AttemptMark, MarkedDelivery } from '../models/delivery-attempt.ts';
import type { Database } from '../models/database.ts';
import { markDeliveryWorkflows, takeFreedDeliveries, type WaitingDelivery } from '../models/delivery.ts';
import type { LeasedDelivery } from '../models/outbox.ts';
import type { KeyRing } from '../platform/key-ring.ts';
import type { Log } from '../platform/log.ts';
import { attemptLeased, returnUnsent } from './attempt.ts';
import { createLanes } from './lanes.ts';
import { createPoster } from './post.ts';
import { createRecorder } from './recorder.ts';
import { createStarter } from './starter.ts';
import type { Resolve } from './url-guard.ts';

export interface WebhookSenderDeps {
  readonly db: Database;
  readonly keyRing: KeyRing;
  /** Starts `webhookDelivery` for a delivery that waits; a rejection leaves it to the sweep. */
  readonly startDelivery: (input: WaitingDelivery) => Promise<void>;
  /** WEBHOOK_ALLOW_LOOPBACK: receivers on this machine, for test keys. */
  readonly allowLoopback: boolean;
  readonly log: Pick<Log, 'warn' | 'error'>;
  /** What names mean; DNS when absent. */
  readonly resolve?: Resolve;
}

export interface WebhookSender {
  /** Takes leased deliveries after their commit and returns at once. Those held back are looked at again shortly. */
  offer(deliveries: readonly LeasedDelivery[]): void;
  /** A place for one attempt at an endpoint, counted with the direct ones; null when it has enough in flight. */
  enter(endpointId: string, slow: boolean): ((slow: boolean) => void) | null;
  /**
   * Makes the attempt a workflow asked for, 15 s at most, and writes its end.
   * @returns null when the lease was lost meanwhile. @throws when the end could not be written
   */
  attempt(delivery: LeasedDelivery): Promise<{ marked: MarkedDelivery | null; slow: boolean; statusCode: number | null }>;
  /** Resolves when nothing is queued, in flight or unwritten. */
  idle(): Promise<void>;
  /** Gives back what is queued, lets attempts in flight end, writes their ends, closes the connections. */
  close(): Promise<void>;
}

/** Past this, a mark that made the earlier event's end known has been committed, in milliseconds. */
const secondLookAfterMs = 250;

export function createWebhookSender(deps: WebhookSenderDeps): WebhookSender {
  const { db, keyRing, log } = deps;
  const poster = createPoster({ allowLoopback: deps.allowLoopback, ...(deps.resolve === undefined ? {} : { resolve: deps.resolve }) });
  const attemptDeps = { keyRing, poster, random: Math.random };
  const recorder = createRecorder({ db, log, offerReleased: (deliveries) => offer(deliveries) });
  const starter = createStarter({ start: deps.startDelivery, markStarted: (ids) => markDeliveryWorkflows(db, ids), log });
  const work = createTally();
  let held: LeasedDelivery[] = [];
  let secondLook: NodeJS.Timeout | null = null;
  let closing = false;

  const lanes = createLanes({
    nowMs: () => performance.now(),
    giveBack: (delivery) => void finish(returnUnsent(delivery)),
    async send(delivery) {
      const mark = await attemptLeased(attemptDeps, delivery, directAttemptTimeoutMs);
      // The place is free for the next as soon as the receiver has answered; the mark follows.
      void finish(mark);
      return mark.slow;
    },
  });

  const finish = async (mark: AttemptMark): Promise<void> => {
    try {
      const marked = await recorder.record(mark);
      if (marked?.status === 'retrying') await starter.start(marked);
    } catch (err) {
      log.error({ err, deliveryId: mark.deliveryId }, 'the end of a webhook attempt could not be written; it will be sent again');
    } finally {
      work.less(1);
    }
  };

  const offer = (deliveries: readonly LeasedDelivery[]): void => {
    work.more(deliveries.length);
    for (const delivery of deliveries) {
      if (delivery.held) hold(delivery);
      else if (!lanes.push(delivery)) void finish(returnUnsent(delivery));
    }
  };

  const hold = (delivery: LeasedDelivery): void => {
    held.push(delivery);
    secondLook ??= setTimeout(() => void lookAgain(), secondLookAfterMs);
  };

  const lookAgain = async (): Promise<void> => {
    const batch = held;
    held = [];
    secondLook = null;
    try {
      const freed = new Set(closing ? [] : await takeFreedDeliveries(db, batch.map((delivery) => delivery.id)));
      offer(batch.filter((delivery) => freed.has(delivery.id)).map((delivery) => ({ ...delivery, held: false })));
    } catch (err) {
      log.warn({ err }, 'held-back webhooks could not be looked at; they go out when their time is up');
    } finally {
      work.less(batch.length);
    }
  };

  return {
    offer,
    enter: (endpointId, slow) => lanes.enter(endpointId, slow),
    async attempt(delivery) {
      work.more(1);
      try {
        const mark = await attemptLeased(attemptDeps, delivery, attemptTimeoutMs);
        return { marked: await recorder.record(mark), slow: mark.slow, statusCode: mark.statusCode };
      } finally {
        work.less(1);
      }
    },
    idle: () => work.none(),
    async close() {
      closing = true;
      for (const delivery of lanes.close()) void finish(returnUnsent(delivery));
      await work.none();
      await poster.close();
    },
  };
}

interface Tally {
  more(n: number): void;
  less(n: number): void;
  none(): Promise<void>;
}

function createTally(): Tally {
  let count = 0;
  let waiters: (() => void)[] = [];
  return {
    more(n) {
      count += n;
    },
    less(n) {
      count -= n;
      if (count > 0) return;
      for (const wake of waiters) wake();
      waiters = [];
    },
    none: () => (count === 0 ? Promise.resolve() : new Promise((wake) => waiters.push(wake))),
  };
}
