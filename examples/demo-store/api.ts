// The payment service as this store uses it: three calls over REST. A call whose answer was lost is sent again under the
// same idempotency key, so that no order ever gets two sessions.
import { setTimeout as wait } from 'node:timers/promises';

export interface PaymentApi {
  createSession(idempotencyKey: string, session: NewSession): Promise<CreatedSession>;
  readSession(id: string): Promise<Session>;
  /** @returns the endpoint with its signing secret, which is shown this once. */
  registerEndpoint(url: string): Promise<{ id: string; secret: string }>;
  hasEndpoint(id: string): Promise<boolean>;
}

export interface NewSession {
  amount: number;
  currency: string;
  description: string;
  success_url: string;
  failure_url: string;
  cancel_url: string;
  line_items: { name: string; quantity: number; unit_amount: number; sku: string }[];
  metadata: Record<string, string>;
}

export interface CreatedSession {
  id: string;
  status: string;
  checkout_url: string;
}

export interface Session {
  id: string;
  status: 'open' | 'completed' | 'failed' | 'expired' | 'cancelled';
  amount: number;
  currency: string;
  transaction: { id: string; receipt_number: string; status: string } | null;
}

/** The service refused: `code` says why in a word (`docs/` of the service lists them). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const maxTries = 4;
const callTimeoutMs = 15_000;

/** @param baseUrl origin of the service, without `/api/v1` */
export function openPaymentApi(baseUrl: string, apiKey: string): PaymentApi {
  const call = async <Body>(method: string, path: string, options: { body?: object; idempotencyKey?: string } = {}): Promise<Body> => {
    for (let tries = 1; ; tries++) {
      let waitMs = 250 * 2 ** tries;
      try {
        const response = await fetch(`${baseUrl}/api/v1${path}`, {
          method,
          headers: {
            authorization: `Bearer ${apiKey}`,
            ...(options.body ? { 'content-type': 'application/json' } : {}),
            ...(options.idempotencyKey ? { 'idempotency-key': options.idempotencyKey } : {}),
          },
          ...(options.body ? { body: JSON.stringify(options.body) } : {}),
          signal: AbortSignal.timeout(callTimeoutMs),
        });
        const answer = (await response.json().catch(() => ({}))) as { error?: string; code?: string };
        if (response.ok) return answer as Body;
        // Worth another try: too many requests, the same key still at work, or the service not being there just now.
        const passing = response.status === 429 || response.status >= 500 || answer.code === 'idempotency_in_progress';
        if (!passing || tries === maxTries) throw new ApiError(response.status, answer.code ?? 'unknown', answer.error ?? `HTTP ${response.status}`);
        waitMs = Math.max(waitMs, 1000 * Number(response.headers.get('retry-after') ?? 0));
      } catch (error) {
        // No answer: it may have been done or not. The same key makes sending it again safe.
        if (error instanceof ApiError || tries === maxTries) throw error;
      }
      await wait(Math.min(waitMs, 5_000));
    }
  };

  return {
    createSession: (idempotencyKey, session) => call('POST', '/checkout-sessions', { body: session, idempotencyKey }),
    readSession: (id) => call('GET', `/checkout-sessions/${encodeURIComponent(id)}`),
    registerEndpoint: (url) =>
      call('POST', '/webhook-endpoints', {
        body: { url, events: ['payment.completed', 'payment.failed', 'checkout.cancelled', 'checkout_session.expired'], description: 'Demo store' },
      }),
    async hasEndpoint(id) {
      try {
        await call('GET', `/webhook-endpoints/${encodeURIComponent(id)}`);
        return true;
      } catch (error) {
        if (error instanceof ApiError && (error.status === 404 || error.status === 401)) return false;
        throw error;
      }
    },
  };
}
