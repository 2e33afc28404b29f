// Who the key belongs to: what automation platforms call to test one.
import type { Mode } from '../domain/mode.ts';
import type { OwnKeyRow } from '../models/api-key.ts';

export function presentMe(row: OwnKeyRow, mode: Mode) {
  return { merchant: { id: row.merchant_id, name: row.merchant_name }, mode, key: { id: row.key_id, prefix: row.prefix, last4: row.last4 } };
}
