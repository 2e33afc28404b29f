// The adapter of the simulated gateway: one method, one call, answers mapped in mapping.ts. It keeps no state but its
// connections.
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import type { Gateway, GatewayCall, GatewayCapabilities, OperationRequest } from '../gateway.ts';
import { callJson } from '../http.ts';
import type { CallAnswer } from '../http.ts';
import { toChargeOutcome, toLookupOutcome, toOperationLookup, toOperationOutcome, toVaultedCard } from './mapping.ts';

export const simulatorCapabilities: GatewayCapabilities = {
  currencies: 'all',
  manualCapture: true,
  partialCapture: true,
  refunds: true,
  threeDS: true,
  savedCards: true,
  notifications: true,
  // Fits a local activity of 5 s.
  chargeTimeoutMs: 4_000,
  lookupTimeoutMs: 8_000,
  notFoundFinalAfterMs: 30_000,
};

/** Well under the charge timeout, so that an address that swallows packets counts as not reached. */
const connectTimeoutMs = 1_500;
/** More calls at once than any process makes; beyond it they wait their turn within their timeout. */
const connectionLimit = 256;

export interface SimulatorGatewayOptions {
  readonly slug: string;
  readonly name: string;
  /** Scheme, host and port of the simulator. */
  readonly baseUrl: string;
  readonly secret: string | null;
  /** Absent: a pool of its own, closed by `close`. */
  readonly dispatcher?: Dispatcher;
}

export interface SimulatorGateway extends Gateway {
  close(): Promise<void>;
}

export function createSimulatorGateway(options: SimulatorGatewayOptions): SimulatorGateway {
  const { slug, name, secret } = options;
  const { origin } = new URL(options.baseUrl);
  const dispatcher = options.dispatcher ?? new Pool(origin, { connections: connectionLimit, connect: { timeout: connectTimeoutMs } });
  const authorization: Record<string, string> = secret === null ? {} : { authorization: `Bearer ${secret}` };
  const { chargeTimeoutMs, lookupTimeoutMs } = simulatorCapabilities;

  const post = (path: string, key: string | null, body: unknown, call: GatewayCall, timeoutMs = chargeTimeoutMs): Promise<CallAnswer> =>
    callJson({
      dispatcher,
      origin,
      method: 'POST',
      path: `/${slug}/v1/${path}`,
      headers: key === null ? authorization : { ...authorization, 'idempotency-key': key },
      body,
      timeoutMs,
      signal: call.signal,
    });
  const get = (path: string, call: GatewayCall): Promise<CallAnswer> =>
    callJson({ dispatcher, origin, method: 'GET', path: `/${slug}/v1/${path}`, headers: authorization, timeoutMs: lookupTimeoutMs, signal: call.signal });
  const operate = async (verb: 'capture' | 'void' | 'refund', request: OperationRequest, money: object, call: GatewayCall) => {
    const path = `charges/${encodeURIComponent(request.gatewayTransactionId)}/${verb}`;
    return toOperationOutcome(await post(path, request.key, { reference: request.reference, ...money }, call), request);
  };

  return {
    slug,
    name,
    capabilities: simulatorCapabilities,

    async vaultCard(card, call, options) {
      const { number, cvc } = card.reveal();
      const body = { number, cvc, expiry_month: card.expiryMonth, expiry_year: card.expiryYear, ...(options?.save === true ? { save: true } : {}) };
      return toVaultedCard(await post('cards', null, body, call));
    },
    async charge(request, call) {
      const body = {
        reference: request.reference,
        card: request.cardReference,
        amount: request.amountMinor,
        currency: request.currency,
        capture: request.capture,
        initiated_by: request.initiatedBy,
        return_url: request.returnUrl,
      };
      return toChargeOutcome(await post('charges', request.key, body, call), request);
    },
    async lookupCharge(request, call) {
      return toLookupOutcome(await get(`charges?key=${encodeURIComponent(request.key)}`, call), request);
    },
    async cancelCharge(request, call) {
      const body = { key: request.key, reference: request.reference };
      return toLookupOutcome(await post('charges/cancel', null, body, call, lookupTimeoutMs), request);
    },
    voidCharge: (request, call) => operate('void', request, {}, call),
    captureCharge: (request, call) => operate('capture', request, { amount: request.amountMinor, currency: request.currency }, call),
    refundCharge: (request, call) => operate('refund', request, { amount: request.amountMinor, currency: request.currency }, call),
    async lookupOperation(request, call) {
      return toOperationLookup(await get(`operations?key=${encodeURIComponent(request.key)}`, call), request);
    },
    async close() {
      if (options.dispatcher === undefined) await dispatcher.close();
    },
  };
}
