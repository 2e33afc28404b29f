// Opens the gateways of this installation for the composition root: adapters behind their circuit breakers, and the
// sources of their notifications.
import { lookUpUnknown } from '../activities/look-up-unknown.ts';
import { type BreakerOptions, withBreaker } from '../gateways/breaker.ts';
import { knownGateway } from '../gateways/catalogue.ts';
import type { Gateway } from '../gateways/gateway.ts';
import { createNotificationVerifier, type NotificationSource, type NotificationVerifier, simulatorNotifications } from '../gateways/notification.ts';
import { createGatewayRegistry, type GatewayRegistry } from '../gateways/registry.ts';
import { createSimulatorGateway } from '../gateways/simulator/gateway.ts';
import { createStripeGateway } from '../gateways/stripe/gateway.ts';
import { stripeNotifications } from '../gateways/stripe/notification.ts';
import type { Database } from '../models/database.ts';
import { readCredentials, readNotificationSecrets } from '../operations/gateway-credentials.ts';
import type { KeyRing } from '../platform/key-ring.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { LookUpDoor } from '../temporal/look-up-door.ts';

export interface GatewayOptions {
  readonly db: Database;
  readonly keyRing: KeyRing;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly alert: (kind: string, fields: Readonly<Record<string, string>>) => void;
  readonly lookUp: LookUpDoor;
  /** null: there is no simulated gateway. */
  readonly simulator: { readonly url: string; readonly secret: string | null } | null;
  /** Whether live keys may use it. */
  readonly simulatorLive: boolean;
  /** Puts something around an adapter, inside its breaker. */
  readonly wrap: ((gateway: Gateway) => Gateway) | undefined;
}

export interface OpenGateways {
  readonly registry: GatewayRegistry;
  readonly notifications: NotificationVerifier;
  close(): Promise<void>;
}

export function openGateways(options: GatewayOptions): OpenGateways {
  const { simulator, simulatorLive, wrap } = options;
  const simulators =
    simulator === null
      ? []
      : [
          createSimulatorGateway({ slug: 'simulator', name: 'Simulator', baseUrl: simulator.url, secret: simulator.secret }),
          createSimulatorGateway({ slug: 'simulator_b', name: 'Simulator B', baseUrl: simulator.url, secret: simulator.secret }),
        ];
  const { db, keyRing } = options;
  const stripe = createStripeGateway({
    alert: options.alert,
    async credentialsOf({ merchantId, mode }) {
      const secretKey = (await readCredentials({ db, keyRing }, { merchantId, mode }, 'stripe'))?.['secretKey'];
      if (secretKey === undefined) throw new Error(`${merchantId} has no ${mode} account at stripe`);
      return { secretKey };
    },
  });
  const adapters = [...simulators, stripe];
  const breaker = breakerOptions(options);
  for (const { slug } of adapters) options.metrics.circuit(slug, false);
  const simulated = simulatorNotifications(simulator?.secret ?? null);
  const sources: Record<string, NotificationSource> = {
    ...(simulator === null ? {} : { simulator: simulated, simulator_b: simulated }),
    stripe: stripeNotifications((account) => readNotificationSecrets({ db, keyRing }, 'stripe', account)),
  };
  return {
    // A real gateway is usable in the modes a merchant has an account for.
    registry: createGatewayRegistry(
      adapters.map((gateway) => withBreaker(wrap?.(gateway) ?? gateway, breaker)),
      (slug, mode) => knownGateway(slug)?.needsAccount === true || mode === 'test' || simulatorLive,
    ),
    notifications: createNotificationVerifier(sources),
    async close() {
      await Promise.all(adapters.map((gateway) => gateway.close()));
    },
  };
}

function breakerOptions({ db, log, metrics, alert, lookUp }: GatewayOptions): BreakerOptions {
  return {
    now: () => performance.now(),
    onOpen(gateway) {
      metrics.circuit(gateway, true);
      alert('gateway_circuit_open', { gateway });
    },
    onClose(gateway) {
      metrics.circuit(gateway, false);
      lookUpUnknown({ db, lookUp }, gateway).then(
        (count) => log.info({ gateway, count }, 'the gateway answers again; what it left open is looked up'),
        (error: unknown) => log.warn({ err: error, gateway }, 'what the gateway left open keeps its own schedule of look-ups'),
      );
    },
  };
}
