// Tells the service that something changed on its own: a signed POST, tried a few times. A notification is only a hint
// to look, so what is lost with this process is lost.
import { createHmac } from 'node:crypto';
import { Pool } from 'undici';
import { randomId } from './keys.ts';
import type { ChargeRow, OperationRow } from './rows.ts';

/** Waits before each attempt; enough for a receiver that restarts. */
const attemptWaitsMs = [0, 500, 2_000, 8_000] as const;
const answerTimeoutMs = 5_000;

export interface Notifier {
  changed(row: ChargeRow | OperationRow): void;
}

/** @param config the service's base address (null: nobody is told) and the secret that signs (null: unsigned) */
export function createNotifier(config: { url: string | null; secret: string | null }): Notifier {
  if (config.url === null) return { changed: () => {} };
  const base = new URL(config.url);
  const pool = new Pool(base.origin, { connections: 8 });
  const prefix = base.pathname.replace(/\/$/, '');

  async function attempt(path: string, body: string, n: number): Promise<void> {
    try {
      const answer = await pool.request({
        method: 'POST',
        path,
        body,
        headers: { 'content-type': 'application/json', ...signature(config.secret, body, Math.floor(Date.now() / 1000)) },
        signal: AbortSignal.timeout(answerTimeoutMs),
      });
      await answer.body.dump();
      if (answer.statusCode < 300) return;
    } catch {
      // Not delivered: the next attempt is the answer to that.
    }
    later(path, body, n + 1);
  }

  function later(path: string, body: string, n: number): void {
    const waitMs = attemptWaitsMs[n];
    if (waitMs !== undefined) setTimeout(() => void attempt(path, body, n), waitMs).unref();
  }

  return {
    changed(row) {
      const type = row.row === 'charge' ? 'charge.updated' : `${row.type}.updated`;
      const body = JSON.stringify({ id: randomId('sim_ntf_'), type, reference: row.reference, key: row.key });
      later(`${prefix}/gateway-notifications/${row.gateway}`, body, 0);
    },
  };
}

function signature(secret: string | null, body: string, timestamp: number): Record<string, string> {
  if (secret === null) return {};
  const mac = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return { 'x-simulator-signature': `t=${timestamp},v1=${mac}` };
}
