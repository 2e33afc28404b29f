// The demo merchant of the first start. Its keys can be read again from DATA_DIR/demo.json (0600): they are what the
// welcome shows at every start.
import { join } from 'node:path';
import { ulid } from 'ulid';
import { makeId } from '../domain/id.ts';
import type { Database } from '../models/database.ts';
import { listMerchants } from '../models/merchant.ts';
import { createMerchant } from '../operations/create-merchant.ts';
import { readPrivate, writePrivately } from './data-dir.ts';
import type { DemoMerchant } from './runtime-file.ts';

export interface Demo {
  /** null when the database has merchants but no demo of ours. */
  readonly merchant: DemoMerchant | null;
  readonly isNew: boolean;
}

export async function demoMerchant(dataDir: string, db: Database): Promise<Demo> {
  const file = join(dataDir, 'demo.json');
  const merchants = await listMerchants(db.knex);
  const kept = readPrivate<DemoMerchant>(file);
  if (kept !== null && merchants.some((merchant) => merchant.id === kept.merchant_id)) return { merchant: kept, isNew: false };
  if (merchants.length > 0) return { merchant: null, isNew: false };
  const made = await createMerchant({ db, newId: (kind) => makeId(kind, ulid) }, { name: 'Demo Store' });
  const merchant = { merchant_id: made.merchantId, test_key: made.test.key, live_key: made.live.key };
  writePrivately(file, merchant);
  return { merchant, isNew: true };
}
