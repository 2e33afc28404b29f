// A circuit breaker around a gateway: when it stops answering, new charges are refused at once instead of each waiting for
// its timeout. A hint of this process, never a truth: look-ups, captures, voids and refunds always go through.
import { CardRejected, VaultUnavailable } from './gateway.ts';
import type { Gateway } from './gateway.ts';

/** `half_open`: one call is let through to try. */
export type CircuitState = 'closed' | 'open' | 'half_open';

export interface BreakerOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly onOpen?: (slug: string) => void;
  /** The gateway answers again. */
  readonly onClose?: (slug: string) => void;
  /** Calls in a row without an answer that open the circuit, if they lie within `withinMs`. */
  readonly failures?: number;
  readonly withinMs?: number;
  /** How long after opening one call is let through. */
  readonly probeAfterMs?: number;
}

export interface GuardedGateway extends Gateway {
  readonly circuit: () => CircuitState;
}

/** How a call ended, as far as it says whether anybody is there. A refusal or a decline is an answer. */
type Sign = 'answered' | 'silent' | 'unclear';

export function withBreaker(gateway: Gateway, options: BreakerOptions): GuardedGateway {
  const { slug } = gateway;
  const { now, failures = 5, withinMs = 30_000, probeAfterMs = 10_000 } = options;
  let state: CircuitState = 'closed';
  let silences: number[] = [];
  let tryAt = 0;

  const open = (): void => {
    const wasClosed = state === 'closed';
    state = 'open';
    tryAt = now() + probeAfterMs;
    if (wasClosed) options.onOpen?.(slug);
  };
  const close = (): void => {
    silences = [];
    if (state === 'closed') return;
    state = 'closed';
    options.onClose?.(slug);
  };
  const note = (sign: Sign): void => {
    if (sign === 'answered') return close();
    if (sign === 'unclear') {
      // Somebody is there, and it may have been one merchant's trouble: the next call is the probe.
      if (state === 'half_open') {
        state = 'open';
        tryAt = now();
      }
      return;
    }
    if (state !== 'closed') {
      open();
      return;
    }
    const at = now();
    silences = [...silences.filter((earlier) => at - earlier < withinMs), at].slice(-failures);
    if (silences.length >= failures) open();
  };
  /** Whether a new charge or card may go out; the first one after the pause is the probe. */
  const admits = (): boolean => {
    if (state === 'closed') return true;
    // A probe that never came to an end must not hold the circuit open for ever.
    if (now() < tryAt) return false;
    state = 'half_open';
    tryAt = now() + probeAfterMs;
    return true;
  };
  const watch = async <Outcome extends { kind: string }>(call: Promise<Outcome>): Promise<Outcome> => {
    const outcome = await call;
    note(signOf(outcome));
    return outcome;
  };

  return {
    slug,
    name: gateway.name,
    capabilities: gateway.capabilities,
    circuit: () => state,
    async vaultCard(card, call, options) {
      if (!admits()) throw new VaultUnavailable('the gateway has not been answering: circuit_open');
      try {
        const kept = await gateway.vaultCard(card, call, options);
        note('answered');
        return kept;
      } catch (error) {
        note(error instanceof CardRejected ? 'answered' : error instanceof VaultUnavailable && error.silent ? 'silent' : 'unclear');
        throw error;
      }
    },
    async charge(request, call) {
      return admits() ? watch(gateway.charge(request, call)) : { kind: 'unreached', reason: 'circuit_open' };
    },
    lookupCharge: (request, call) => watch(gateway.lookupCharge(request, call)),
    cancelCharge: (request, call) => watch(gateway.cancelCharge(request, call)),
    voidCharge: (request, call) => watch(gateway.voidCharge(request, call)),
    captureCharge: (request, call) => watch(gateway.captureCharge(request, call)),
    refundCharge: (request, call) => watch(gateway.refundCharge(request, call)),
    lookupOperation: (request, call) => watch(gateway.lookupOperation(request, call)),
  };
}

function signOf(outcome: { kind: string; reason?: string }): Sign {
  if (outcome.kind === 'unreached') return outcome.reason === 'connection_refused' ? 'silent' : 'unclear';
  if (outcome.kind !== 'unknown') return 'answered';
  return outcome.reason === 'timeout' ? 'silent' : 'unclear';
}
