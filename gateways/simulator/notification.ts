// Reading a notification of the simulated gateway: verified over the bytes as they came, and only ever a reason to
// look up. It decides nothing.
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SimulatorNotification {
  /** For deduplication. */
  readonly id: string;
  readonly type: string;
  readonly reference: string;
  /** Key of the charge or operation that changed. */
  readonly key: string;
}

/** How old or early a signature may be. */
const windowMs = 5 * 60_000;

/** @returns null for a bad, stale or missing signature and for a body of another shape */
export function readSimulatorNotification(input: { rawBody: string; signature: string | undefined; secret: string; nowMs: number }): SimulatorNotification | null {
  const match = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(input.signature ?? '');
  if (match === null || Math.abs(input.nowMs - Number(match[1]) * 1_000) > windowMs) return null;
  const expected = createHmac('sha256', input.secret).update(`${match[1]}.${input.rawBody}`).digest();
  if (!timingSafeEqual(expected, Buffer.from(match[2] ?? '', 'hex'))) return null;
  return parse(input.rawBody);
}

function parse(text: string): SimulatorNotification | null {
  try {
    const { id, type, reference, key } = JSON.parse(text) as Record<string, unknown>;
    if (typeof id !== 'string' || typeof type !== 'string' || typeof reference !== 'string' || typeof key !== 'string') return null;
    return { id, type, reference, key };
  } catch {
    return null;
  }
}
