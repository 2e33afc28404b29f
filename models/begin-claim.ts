// The head of every statement that begins an operation at a gateway: it takes the idempotency key, in progress and leased,
// together with the operation it stands for, so that every retry attaches to that operation and none starts another.

/** A key to be taken by the statement that begins an operation; `{}` when the request carried none. */
export interface BeginClaim {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly fingerprint: string;
  readonly leaseMs: number;
  readonly retentionDays: number;
  readonly reserved: ReservedOperation;
}

/** The operation a key stands for: where a retry, or the sweep, finds what became of it. */
export interface ReservedOperation {
  readonly kind: 'charge' | 'capture' | 'void' | 'refund';
  readonly operationId: string;
  readonly transactionId: string;
  /** Of the request that began it: stands in the body of a stored error. */
  readonly requestId: string;
}

export function claimParameter(claim: BeginClaim | null): string {
  return JSON.stringify(claim ?? {});
}

/**
 * SQL text of the CTE `claim`; the effect must be guarded by `claimed(parameter)`.
 * @param subject SQL of a one-row source with merchant_id and mode
 * @param resource placeholders of the resource's type and id
 */
export function claimCte(subject: string, parameter: number, resource: { readonly type: string; readonly id: string }): string {
  return `
    claim as (
      insert into idempotency_keys (merchant_id, mode, key, method, path, fingerprint, reserved, lease_until, resource_type, resource_id, expires_at)
      select g.merchant_id, g.mode, c.key, c.method, c.path, c.fingerprint, c.reserved,
        clock_timestamp() + c."leaseMs" * interval '1 millisecond', ${resource.type}, ${resource.id}, now() + c."retentionDays" * interval '1 day'
      from ${subject} g, jsonb_to_record($${parameter}::jsonb) as c(key text, method text, path text, fingerprint text, "leaseMs" integer,
        "retentionDays" integer, reserved jsonb)
      where c.key is not null
      on conflict (merchant_id, mode, key) do nothing
      returning key
    )`;
}

/** SQL condition: the request carried no key, or it was taken just now. */
export function claimed(parameter: number): string {
  return `(($${parameter}::jsonb ->> 'key') is null or exists (select from claim))`;
}
