// Who vouches for a notification: reads it by the rules of its gateway and tries the secrets that could have signed it.
// What comes out is only ever a reason to look up. Remembers nothing; the secrets are handed in.
import type { Mode } from '../domain/mode.ts';
import { readSimulatorNotification } from './simulator/notification.ts';

export interface GatewayNotification {
  /** The gateway's own, for deduplication. */
  readonly id: string;
  readonly type: string;
  /** Our reference, the payment's id; null when the notification is about nothing of ours. */
  readonly reference: string | null;
  /** Key of the charge or operation that changed, where the gateway tells it. */
  readonly key: string | null;
}

/** @returns null for a bad, stale or missing signature and for a body of another shape */
export type NotificationReader = (input: {
  readonly rawBody: string;
  readonly header: (name: string) => string | undefined;
  readonly secret: string;
  readonly nowMs: number;
}) => GatewayNotification | null;

export interface NotificationSecret {
  readonly secret: string;
  /** Whose account it is; null: the installation's own secret. */
  readonly owner: { readonly merchantId: string; readonly mode: Mode } | null;
}

export interface NotificationSource {
  readonly read: NotificationReader;
  /** Every secret that may have signed. @param account narrows it to one account */
  readonly secrets: (account: string | null) => Promise<readonly NotificationSecret[]>;
}

export interface VerifiedNotification {
  readonly notification: GatewayNotification;
  readonly owner: NotificationSecret['owner'];
}

export interface NotificationVerifier {
  knows(gateway: string): boolean;
  /** null when nobody known has signed it. */
  verify(gateway: string, input: { rawBody: string; header: (name: string) => string | undefined; account: string | null; nowMs: number }): Promise<VerifiedNotification | null>;
}

/** @param sources by gateway slug */
export function createNotificationVerifier(sources: Readonly<Record<string, NotificationSource>>): NotificationVerifier {
  const sourceOf = (gateway: string): NotificationSource | null => (Object.hasOwn(sources, gateway) ? (sources[gateway] ?? null) : null);
  return {
    knows: (gateway) => sourceOf(gateway) !== null,
    async verify(gateway, { account, ...input }) {
      const source = sourceOf(gateway);
      if (source === null) return null;
      for (const { secret, owner } of await source.secrets(account)) {
        const notification = source.read({ ...input, secret });
        if (notification !== null) return { notification, owner };
      }
      return null;
    },
  };
}

/** Without a secret nothing is believed. */
export function simulatorNotifications(secret: string | null): NotificationSource {
  return {
    read: ({ rawBody, header, secret: key, nowMs }) => readSimulatorNotification({ rawBody, signature: header('x-simulator-signature'), secret: key, nowMs }),
    secrets: async () => (secret === null || secret === '' ? [] : [{ secret, owner: null }]),
  };
}
