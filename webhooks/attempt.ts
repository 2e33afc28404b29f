// One attempt of a leased delivery: sign, send, judge. Shared by the direct attempt and by the workflow's activity; it
// neither takes the lease nor writes the end.
import { isDelivered, waitAfterAttempt } from '../domain/delivery-schedule.ts';
import type { AttemptMark } from '../models/delivery-attempt.ts';
import type { LeasedDelivery } from '../models/outbox.ts';
import type { KeyRing } from '../platform/key-ring.ts';
import type { Poster, PostResult } from './post.ts';
import { openSecret } from './secret.ts';
import { signedHeaders } from './signature.ts';

/** An endpoint that took longer than this belongs into the slow lane, in milliseconds. */
export const slowAfterMs = 1000;

export interface AttemptDeps {
  readonly keyRing: KeyRing;
  readonly poster: Poster;
  /** In [0, 1), for the jitter of the next wait. */
  readonly random: () => number;
}

/** Sends the stored body byte for byte. Never throws: whatever goes wrong is the end of the attempt. */
export async function attemptLeased(deps: AttemptDeps, delivery: LeasedDelivery, timeoutMs: number): Promise<AttemptMark> {
  const body = Buffer.from(delivery.body);
  let headers: string[];
  try {
    headers = signedHeaders({
      eventId: delivery.eventId,
      eventType: delivery.eventType,
      attempt: delivery.attempt,
      body,
      secret: openSecret(deps.keyRing, delivery.endpointId, delivery.sealedSecret),
      nextSecret: delivery.sealedNextSecret === null ? null : openSecret(deps.keyRing, delivery.endpointId, delivery.sealedNextSecret),
      now: new Date(),
    });
  } catch {
    return judge(delivery, { ...nothingSent, startedAt: new Date(), error: 'the signing secret cannot be opened with the master keys in use', errorStage: 'signing' }, deps.random());
  }
  return judge(delivery, await deps.poster.post({ url: delivery.url, mode: delivery.mode, headers, body, timeoutMs }), deps.random());
}

/** The lease given back unused: due at once, by way of the workflow. */
export function returnUnsent(delivery: LeasedDelivery): AttemptMark {
  return { ...markOf(delivery, { ...nothingSent, startedAt: new Date() }), verdict: 'returned', waitMs: 0 };
}

/** What the end of an attempt means for its delivery. Only a 2xx is a success; 410 ends the endpoint. */
export function judge(delivery: LeasedDelivery, result: PostResult, random: number): AttemptMark {
  const mark = markOf(delivery, result);
  if (result.statusCode !== null && isDelivered(result.statusCode)) return { ...mark, verdict: 'delivered', slow: result.durationMs > slowAfterMs };
  const failed = { ...mark, error: result.error ?? `the receiver answered ${result.statusCode}`, slow: true };
  if (result.statusCode === 410) return { ...failed, verdict: 'gone' };
  const waitMs = waitAfterAttempt(delivery.attempt, random, result.retryAfterMs);
  return waitMs === null ? { ...failed, verdict: 'failed' } : { ...failed, verdict: 'retry', waitMs };
}

const nothingSent: Omit<PostResult, 'startedAt'> = {
  durationMs: 0,
  statusCode: null,
  responseHeaders: null,
  responseBody: null,
  error: null,
  errorStage: null,
  retryAfterMs: null,
};

function markOf(delivery: LeasedDelivery, result: PostResult): AttemptMark {
  return {
    deliveryId: delivery.id,
    endpointId: delivery.endpointId,
    n: delivery.attempt,
    round: delivery.round,
    verdict: 'failed',
    waitMs: 0,
    startedAt: result.startedAt,
    durationMs: result.durationMs,
    statusCode: result.statusCode,
    responseHeaders: result.responseHeaders,
    responseBody: result.responseBody,
    error: result.error,
    errorStage: result.errorStage,
    slow: false,
  };
}
