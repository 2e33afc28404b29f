// The gateways this service knows, by what can be said of them without opening one: their name, whether a merchant needs
// an account there, and what such an account consists of. Talks to nobody.
import type { Mode } from '../domain/mode.ts';

export interface KnownGateway {
  readonly slug: string;
  readonly name: string;
  /** Real gateways can be used only by merchants who connected an account; the simulated ones by everybody. */
  readonly needsAccount: boolean;
  /** Names of the secrets an account consists of. */
  readonly credentials: readonly string[];
  /** Milliseconds after sending from which the gateway's "not found" is final; the adapter declares the same. */
  readonly notFoundFinalAfterMs: number;
  /** What is wrong with these credentials for this mode, or null. Never repeats a value. */
  readonly check?: (credentials: Readonly<Record<string, string>>, mode: Mode) => string | null;
}

const simulator = { needsAccount: false, credentials: [], notFoundFinalAfterMs: 30_000 } as const;

export const knownGateways: readonly KnownGateway[] = [
  { ...simulator, slug: 'simulator', name: 'Simulator' },
  { ...simulator, slug: 'simulator_b', name: 'Simulator B' },
  {
    slug: 'stripe',
    name: 'Stripe',
    needsAccount: true,
    credentials: ['secretKey'],
    // Stripe keeps idempotency keys for a day; within it nothing is final.
    notFoundFinalAfterMs: 24 * 60 * 60_000,
    check({ secretKey = '' }, mode) {
      // The account's mode has to be ours: a live key behind test payments would charge real cards.
      return new RegExp(`^(sk|rk)_${mode}_[A-Za-z0-9]{8,}$`).test(secretKey) ? null : `The secret key of a ${mode} account begins with sk_${mode}_ or rk_${mode}_.`;
    },
  },
];

export function knownGateway(slug: string): KnownGateway | null {
  return knownGateways.find((gateway) => gateway.slug === slug) ?? null;
}
