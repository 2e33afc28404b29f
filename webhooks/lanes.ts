// Who may be sent to now: 64 attempts in flight, four for an endpoint, and a small lane of its own for endpoints that are
// slow or failing, so that hanging receivers never hold up the others. In memory and only a matter of pace: what is true
// of a delivery is in its row.
import { leaseMarginMs } from '../domain/delivery-schedule.ts';
import type { LeasedDelivery } from '../models/outbox.ts';
import { slowAfterMs } from './attempt.ts';

export const limits = {
  inFlight: 64,
  inFlightSlow: 8,
  perEndpoint: 4,
  /** An endpoint this process has not yet heard from, or a slow one, in the retries of the workflows. */
  perUnproven: 1,
  queued: 8192,
  queuedPerEndpoint: 1024,
  /** Memory of idle endpoints; forgetting one only makes it unproven again. */
  remembered: 5000,
} as const;

/** A lease must cover the attempt that begins under it: what waited longer is given back, in milliseconds. */
const staleAfterMs = leaseMarginMs - 1000;

interface Item {
  readonly delivery: LeasedDelivery;
  readonly sinceMs: number;
}

interface Line {
  readonly endpointId: string;
  queue: Item[];
  inFlight: number;
  proven: boolean;
  slow: boolean;
  ready: boolean;
}

interface Flight {
  readonly line: Line;
  readonly sinceMs: number;
  lane: 'fast' | 'slow' | 'demoted';
}

export interface Lanes {
  /** False when there is no room: the caller gives the lease back. */
  push(delivery: LeasedDelivery): boolean;
  /** A place beside the queue, for an attempt that a workflow makes; null when the endpoint has enough. */
  enter(endpointId: string, slow: boolean): ((slow: boolean) => void) | null;
  /** Empties the queue and starts nothing more. */
  close(): LeasedDelivery[];
}

export interface LanesDeps {
  /** Makes the attempt; resolves to whether the endpoint was slow, or to null when that is not known. */
  readonly send: (delivery: LeasedDelivery) => Promise<boolean | null>;
  /** Takes what waited too long for the lease it was pushed with. */
  readonly giveBack: (delivery: LeasedDelivery) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs: () => number;
}

export function createLanes(deps: LanesDeps): Lanes {
  const lines = new Map<string, Line>();
  const ready: Record<'fast' | 'slow', Line[]> = { fast: [], slow: [] };
  const flights = new Set<Flight>();
  const counts = { fast: 0, slow: 0, demoted: 0 };
  let queued = 0;
  let closed = false;
  let timer: NodeJS.Timeout | null = null;

  const lineOf = (endpointId: string, slow: boolean): Line => {
    let line = lines.get(endpointId);
    if (line === undefined) {
      if (lines.size >= limits.remembered) forgetIdle();
      line = { endpointId, queue: [], inFlight: 0, proven: false, slow, ready: false };
      lines.set(endpointId, line);
    }
    return line;
  };

  const forgetIdle = (): void => {
    for (const [id, line] of lines) if (line.inFlight === 0 && line.queue.length === 0) lines.delete(id);
  };

  const hasRoom = (line: Line): boolean => line.inFlight < (line.proven ? limits.perEndpoint : limits.perUnproven);

  const list = (line: Line): void => {
    if (line.ready || line.queue.length === 0 || !hasRoom(line)) return;
    line.ready = true;
    ready[line.slow ? 'slow' : 'fast'].push(line);
  };

  const pump = (): void => {
    if (closed) return;
    while (counts.fast < limits.inFlight && startNext('fast'));
    while (counts.slow < limits.inFlightSlow && startNext('slow'));
    timer ??= queued + flights.size > 0 ? setInterval(keepHouse, 250).unref() : null;
  };

  /** One delivery of the line whose turn it is; lines take turns, so a long one starves nobody. */
  const startNext = (lane: 'fast' | 'slow'): boolean => {
    const line = ready[lane].shift();
    if (line === undefined) return false;
    line.ready = false;
    // It changed lanes while it stood in this one.
    if (line.slow !== (lane === 'slow')) {
      list(line);
      return true;
    }
    const item = hasRoom(line) ? line.queue.shift() : undefined;
    if (item === undefined) return true;
    queued -= 1;
    if (deps.nowMs() - item.sinceMs > staleAfterMs) deps.giveBack(item.delivery);
    else fly(line, item.delivery, lane);
    list(line);
    return true;
  };

  const fly = (line: Line, delivery: LeasedDelivery, lane: 'fast' | 'slow'): void => {
    const flight: Flight = { line, sinceMs: deps.nowMs(), lane };
    flights.add(flight);
    counts[lane] += 1;
    line.inFlight += 1;
    const land = (slow: boolean | null): void => {
      flights.delete(flight);
      counts[flight.lane] -= 1;
      leave(line, slow);
    };
    deps.send(delivery).then(land, () => land(null));
  };

  const leave = (line: Line, slow: boolean | null): void => {
    line.inFlight -= 1;
    if (slow !== null) {
      line.slow = slow;
      line.proven = !slow;
    }
    list(line);
    pump();
  };

  // Attempts that take long give their place in the fast lane up at once, not when they time out; what waited beyond its
  // lease goes back.
  const keepHouse = (): void => {
    const now = deps.nowMs();
    for (const flight of flights) {
      if (now - flight.sinceMs <= slowAfterMs) break;
      flight.line.slow = true;
      flight.line.proven = false;
      if (flight.lane !== 'fast') continue;
      counts.fast -= 1;
      counts.demoted += 1;
      flight.lane = 'demoted';
    }
    for (const line of queued > 0 ? lines.values() : []) {
      const fresh = line.queue.findIndex((item) => now - item.sinceMs <= staleAfterMs);
      const stale = line.queue.splice(0, fresh === -1 ? line.queue.length : fresh);
      queued -= stale.length;
      for (const item of stale) deps.giveBack(item.delivery);
    }
    pump();
    if (queued + flights.size === 0 && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };

  return {
    push(delivery) {
      if (closed || queued >= limits.queued) return false;
      const line = lineOf(delivery.endpointId, delivery.slow);
      if (line.queue.length >= limits.queuedPerEndpoint) return false;
      line.queue.push({ delivery, sinceMs: deps.nowMs() });
      queued += 1;
      list(line);
      pump();
      return true;
    },
    enter(endpointId, slow) {
      const line = lineOf(endpointId, slow);
      if (closed || !hasRoom(line)) return null;
      line.inFlight += 1;
      return (wasSlow) => leave(line, wasSlow);
    },
    close() {
      closed = true;
      if (timer !== null) clearInterval(timer);
      const rest = [...lines.values()].flatMap((line) => line.queue.map((item) => item.delivery));
      lines.clear();
      return rest;
    },
  };
}
