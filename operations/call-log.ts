// Collects rows of the request log and writes them in batches off the request's path. The buffer is bounded: when
// Postgres is away, rows are dropped and counted, never waited for.
import type { Database } from '../models/database.ts';
import { type ApiRequestRow, type GatewayCallRow, insertApiRequests, insertGatewayCalls } from '../models/request-log.ts';

export interface CallLog {
  recordRequest(row: ApiRequestRow): void;
  recordGatewayCall(row: GatewayCallRow): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

export interface CallLogOptions {
  readonly db: Database;
  readonly onDropped: (table: 'api_requests' | 'gateway_calls', count: number) => void;
  /** Milliseconds between writes; a full batch does not wait. */
  readonly everyMs?: number;
}

const batchRows = 500;
const bufferRows = 10_000;

export function createCallLog(options: CallLogOptions): CallLog {
  const requests = batches('api_requests', (rows: readonly ApiRequestRow[]) => insertApiRequests(options.db, rows), options);
  const gatewayCalls = batches('gateway_calls', (rows: readonly GatewayCallRow[]) => insertGatewayCalls(options.db, rows), options);
  return {
    recordRequest: requests.add,
    recordGatewayCall: gatewayCalls.add,
    close: async () => {
      await Promise.all([requests.close(), gatewayCalls.close()]);
    },
  };
}

function batches<Row>(table: 'api_requests' | 'gateway_calls', write: (rows: readonly Row[]) => Promise<void>, options: CallLogOptions) {
  let waiting: Row[] = [];
  let writing: Promise<void> = Promise.resolve();
  let busy = false;
  const flush = (): Promise<void> => {
    if (busy || waiting.length === 0) return writing;
    const rows = waiting.slice(0, batchRows);
    waiting = waiting.slice(batchRows);
    busy = true;
    writing = write(rows)
      // Written once or dropped: the log is a convenience and must not pile up behind a failing database.
      .catch(() => options.onDropped(table, rows.length))
      .finally(() => {
        busy = false;
        if (waiting.length >= batchRows) void flush();
      });
    return writing;
  };
  const timer = setInterval(() => void flush(), options.everyMs ?? 1_000);
  timer.unref();
  return {
    add(row: Row): void {
      if (waiting.length >= bufferRows) {
        options.onDropped(table, 1);
        return;
      }
      waiting.push(row);
      if (waiting.length === batchRows) void flush();
    },
    async close(): Promise<void> {
      clearInterval(timer);
      await writing;
      while (waiting.length > 0) await flush();
      await writing;
    },
  };
}
