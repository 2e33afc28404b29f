// The api_requests and gateway_calls tables: what was asked of us and of gateways, kept 30 days, never with card data.
// Rows come in batches from operations/call-log.ts.
import type { Database, Statement } from './database.ts';

export interface ApiRequestRow {
  readonly requestId: string;
  readonly merchantId: string | null;
  readonly mode: string | null;
  readonly keyId: string | null;
  readonly method: string;
  readonly path: string;
  readonly resourceId: string | null;
  readonly status: number;
  readonly errorCode: string | null;
  readonly durationMs: number;
  readonly idempotencyKey: string | null;
  readonly createdAt: Date;
}

export interface GatewayCallRow {
  readonly merchantId: string;
  readonly mode: string;
  readonly transactionId: string | null;
  readonly gateway: string;
  /** vault, charge, lookup, cancel, void, capture, refund. */
  readonly kind: string;
  /** How it ended: approved, declined, unknown, a normalised failure code. */
  readonly code: string;
  readonly durationMs: number;
  readonly createdAt: Date;
}

const requestsStatement: Statement = {
  name: 'insert-api-requests',
  text: `insert into api_requests (request_id, merchant_id, mode, key_id, method, path, resource_id, status, error_code, duration_ms, idempotency_key, created_at)
    select "requestId", "merchantId", mode, "keyId", method, path, "resourceId", status, "errorCode", "durationMs", "idempotencyKey", "createdAt"
    from jsonb_to_recordset($1::jsonb) as r("requestId" text, "merchantId" text, mode text, "keyId" text, method text, path text, "resourceId" text,
      status integer, "errorCode" text, "durationMs" integer, "idempotencyKey" text, "createdAt" timestamptz)`,
};

const gatewayStatement: Statement = {
  name: 'insert-gateway-calls',
  text: `insert into gateway_calls (merchant_id, mode, transaction_id, gateway, kind, code, duration_ms, created_at)
    select "merchantId", mode, "transactionId", gateway, kind, code, "durationMs", "createdAt"
    from jsonb_to_recordset($1::jsonb) as r("merchantId" text, mode text, "transactionId" text, gateway text, kind text, code text,
      "durationMs" integer, "createdAt" timestamptz)`,
};

export async function insertApiRequests(db: Database, rows: readonly ApiRequestRow[]): Promise<void> {
  await db.runAlone(requestsStatement, [JSON.stringify(rows)]);
}

export async function insertGatewayCalls(db: Database, rows: readonly GatewayCallRow[]): Promise<void> {
  await db.runAlone(gatewayStatement, [JSON.stringify(rows)]);
}

const retention = `interval '30 days'`;
const dropStatements: readonly Statement[] = ['api_requests', 'gateway_calls'].map((table) => ({
  name: `drop-${table}`,
  text: `delete from ${table} where id in (select id from ${table} where created_at < now() - ${retention} order by created_at limit $1)`,
}));

/** For the sweep: forgets rows after 30 days, at most `limit` of each at once. */
export async function dropOldCalls(db: Database, limit: number): Promise<void> {
  for (const statement of dropStatements) await db.runAlone(statement, [limit]);
}
