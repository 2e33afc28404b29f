// The head of a statement that creates something without reaching a gateway: it takes the idempotency key together with the
// answer, so that key, effect and answer are one statement. Keys of operations at a gateway are begun by begin-claim.ts.

/** A key with the answer it will replay. */
export interface StoredClaim {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly fingerprint: string;
  readonly responseStatus: number;
  readonly sealedBody: string;
  readonly retentionDays: number;
}

export function completedClaimParameter(claim: StoredClaim | null): string {
  return JSON.stringify(claim ?? {});
}

/**
 * SQL text of the CTE `claim`, in a statement whose $1 is the new resource's id, $2 the merchant and $3 the mode. The effect
 * must be guarded by `claimed(parameter)` of begin-claim.ts.
 * @param parameter number of the parameter that holds the claim
 */
export function completedClaimCte(resourceType: 'checkout_session' | 'card_setup_session', parameter: number): string {
  return `claim as (
      insert into idempotency_keys (merchant_id, mode, key, method, path, fingerprint, status, resource_type, resource_id, response_status, sealed_body, expires_at)
      select $2, $3, c.key, c.method, c.path, c.fingerprint, 'completed', '${resourceType}', $1, c."responseStatus", c."sealedBody", now() + c."retentionDays" * interval '1 day'
      from jsonb_to_record($${parameter}::jsonb) as c(key text, method text, path text, fingerprint text, "responseStatus" integer, "sealedBody" text, "retentionDays" integer)
      where c.key is not null
      on conflict (merchant_id, mode, key) do nothing
      returning key
    )`;
}
