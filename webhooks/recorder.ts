// Writes the ends of attempts in batches: while one statement is under way the next marks gather, so that a burst costs
// few statements and a lone mark waits for nothing. Follows up what a mark entails for the endpoint.
import { type AttemptMark, markAttempts, type MarkedDelivery, type MarkedEndpoint, maxMarks } from '../models/delivery-attempt.ts';
import type { Database } from '../models/database.ts';
import { endDeliveriesOf } from '../models/delivery.ts';
import type { LeasedDelivery } from '../models/outbox.ts';
import type { Log } from '../platform/log.ts';

export interface Recorder {
  /**
   * @returns the delivery as it stands now, or null when another process had taken it over
   * @throws when Postgres failed: nothing of it is known to be written, and the lease runs out by itself
   */
  record(mark: AttemptMark): Promise<MarkedDelivery | null>;
}

export interface RecorderDeps {
  readonly db: Database;
  readonly log: Pick<Log, 'warn' | 'error'>;
  /** Takes the deliveries that a mark set free; they are leased to this process. */
  readonly offerReleased: (deliveries: readonly LeasedDelivery[]) => void;
}

interface Waiting {
  readonly mark: AttemptMark;
  readonly resolve: (marked: MarkedDelivery | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Two at once: one in Postgres while the other is on its way. */
const maxStatements = 2;

export function createRecorder(deps: RecorderDeps): Recorder {
  let waiting: Waiting[] = [];
  let statements = 0;

  const flush = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const marked = await markAttempts(deps.db, batch.map((item) => item.mark));
      if (marked.released.length > 0) deps.offerReleased(marked.released);
      for (const endpoint of marked.endpoints) followUp(endpoint);
      const byId = new Map(marked.deliveries.map((delivery) => [delivery.deliveryId, delivery]));
      for (const item of batch) item.resolve(byId.get(item.mark.deliveryId) ?? null);
    } catch (error) {
      for (const item of batch) item.reject(error);
    } finally {
      statements -= 1;
      pump();
    }
  };

  const followUp = (endpoint: MarkedEndpoint): void => {
    const { endpointId, consecutiveFailures, ended } = endpoint;
    if (endpoint.beganToFail) deps.log.warn({ endpointId, consecutiveFailures }, 'a webhook endpoint fails again and again');
    if (ended === null) return;
    deps.log.warn({ endpointId, ended }, `a webhook endpoint was ${ended}`);
    // What this misses is found ended when somebody comes to take it.
    endDeliveriesOf(deps.db, endpointId, ended === 'deleted' ? 'cancelled' : 'skipped').catch((err: unknown) => {
      deps.log.error({ err, endpointId }, 'the waiting deliveries of an ended endpoint could not be closed yet');
    });
  };

  const pump = (): void => {
    while (statements < maxStatements && waiting.length > 0) {
      const batch = takeBatch();
      statements += 1;
      void flush(batch);
    }
  };

  // One statement cannot write the same row twice: a second mark of a delivery waits for the next.
  const takeBatch = (): Waiting[] => {
    const ids = new Set<string>();
    const batch: Waiting[] = [];
    const rest: Waiting[] = [];
    for (const item of waiting) {
      if (batch.length < maxMarks && !ids.has(item.mark.deliveryId)) {
        ids.add(item.mark.deliveryId);
        batch.push(item);
      } else rest.push(item);
    }
    waiting = rest;
    return batch;
  };

  return {
    record: (mark) =>
      new Promise((resolve, reject) => {
        waiting.push({ mark, resolve, reject });
        // After the current turn, so that answers that arrived together are written together.
        if (waiting.length === 1) setImmediate(pump);
      }),
  };
}
