// What every operation receives. Only composition roots build one.
import type { IdKind } from '../domain/id.ts';
import type { Mode, Scope } from '../domain/mode.ts';
import type { Database } from '../models/database.ts';
import type { LeasedDelivery } from '../models/outbox.ts';
import type { KeyRing } from '../platform/key-ring.ts';

export interface OperationDeps {
  readonly db: Database;
  readonly keyRing: KeyRing;
  readonly newId: (kind: IdKind) => string;
  /** Origin of the hosted pages, without a trailing slash. */
  readonly publicUrl: string;
  /** Hands deliveries this process leased to the sender; returns at once. Called after the commit, never before. */
  readonly offerDeliveries: (deliveries: readonly LeasedDelivery[]) => void;
  readonly gateways: GatewayCatalogue;
  /**
   * Judges where webhooks may be sent to, and gives the address in its normal form; may ask DNS, so never inside a
   * transaction. `createTargetCheck` of webhooks/url-guard.ts makes one. @throws DomainError target_url_not_allowed
   */
  readonly checkTarget: (url: string, mode: Mode) => Promise<string>;
}

/** What may be known of a gateway without talking to it. */
export interface GatewayFacts {
  readonly slug: string;
  readonly name: string;
  readonly currencies: 'all' | readonly string[];
  /** Only merchants with an enabled account there may use it; `usableGateway` tells who may. */
  readonly needsAccount?: boolean;
}

export interface GatewayCatalogue {
  /** The gateway with this slug if it may be used in this mode. */
  find(slug: string, mode: Mode): GatewayFacts | null;
  nameOf(slug: string): string;
}

/** An answer as it leaves: `body` is JSON text, stored byte for byte for idempotent replays. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Who asks and when: `now` is Postgres' clock, read when the request was admitted. */
export interface RequestScope extends Scope {
  readonly now: Date;
}
