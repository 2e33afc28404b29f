// Opens the signing secrets of an endpoint for its owner. They go into that one answer and nowhere else.
import type { WebhookEndpoint } from '../models/webhook-endpoint.ts';
import type { KeyRing } from '../platform/key-ring.ts';
import { openSecret } from '../webhooks/secret.ts';

export interface EndpointSecrets {
  readonly secret: string;
  /** During a rotation the secret that follows, and when. */
  readonly nextSecret: string | null;
  readonly swapsAt: Date | null;
}

/** @throws Error when the master key it was sealed with is no longer in use */
export function readSecrets(ring: KeyRing, endpoint: WebhookEndpoint): EndpointSecrets {
  return {
    secret: openSecret(ring, endpoint.id, endpoint.sealedSecret),
    nextSecret: endpoint.sealedNextSecret === null ? null : openSecret(ring, endpoint.id, endpoint.sealedNextSecret),
    swapsAt: endpoint.sealedNextSecret === null ? null : endpoint.swapsAt,
  };
}
