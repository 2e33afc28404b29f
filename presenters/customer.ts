// A customer as its merchant sees it.
import type { CustomerRow } from '../models/customer.ts';

export function presentCustomer(row: CustomerRow) {
  return {
    id: row.id,
    external_customer_id: row.externalCustomerId,
    name: row.name,
    email: row.email,
    phone: row.phone,
    mode: row.mode,
    default_token_id: row.defaultTokenId,
    tokens_count: row.tokensCount,
    metadata: row.metadata,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
