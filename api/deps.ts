// What the API receives from its composition root. Handlers see all of it as `deps`.
import type { MoneyDeps } from '../operations/carry-out.ts';
import type { CardVault } from '../gateways/vault.ts';
import type { OperationDeps } from '../operations/deps.ts';
import type { CallLog } from '../operations/call-log.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { CardSetupDoor } from '../temporal/card-setup-door.ts';
import type { SessionDoor } from '../temporal/session-door.ts';
import type { GatewayNotificationDeps } from './gateway-notifications.ts';

export interface ApiDeps {
  readonly operations: OperationDeps;
  readonly temporal: SessionDoor;
  readonly cardSetups: CardSetupDoor;
  /** For requests that move money. */
  readonly money: MoneyDeps;
  /** Keeps cards that come in a request. */
  readonly vault: CardVault;
  readonly config: ApiConfig;
  readonly log: Log;
  /** Metrics and the request log. */
  readonly record: ApiRecord;
  readonly readiness: readonly ReadinessCheck[];
  /** Absent: no gateway reports to this process. */
  readonly gatewayNotifications?: GatewayNotificationDeps;
}

export interface ApiRecord {
  readonly metrics: Metrics;
  readonly calls: CallLog;
}

/** The part of the configuration the API reads. */
export interface ApiConfig {
  /** Addresses and CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly publicPostsPerMinute: number;
  /** null: GET /metrics is answered here, to this machine alone. */
  readonly metricsPort: number | null;
}

/** Asked by GET /readyz; a check that throws or takes over 2 s means "not ready". */
export interface ReadinessCheck {
  readonly name: string;
  check(): Promise<void>;
}
