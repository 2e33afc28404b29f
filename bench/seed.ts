// A thousand merchants with twenty test keys each, so that no limit bites while the limiter counts every call. Written
// by SQL; keys are random and live as long as the bench's database.
import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { ulid } from 'ulid';
import { defaultCurrencies } from '../domain/currency.ts';
import { makeId } from '../domain/id.ts';

export interface SeededMerchant {
  readonly id: string;
  /** The next of its keys, in turn. */
  key(): string;
}

const merchantCount = 1000;
const keysEach = 20;

export async function seedMerchants(databaseUrl: string): Promise<readonly SeededMerchant[]> {
  const merchants = Array.from({ length: merchantCount }, () => ({ id: makeId('merchant', ulid), keys: Array.from({ length: keysEach }, newKey) }));
  const keys = merchants.flatMap(({ id, keys: own }) => own.map((key) => ({ key, merchantId: id })));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const ids = merchants.map(({ id }) => id);
    await client.query(`insert into merchants (id, name) select id, 'Bench Store' from unnest($1::text[]) id`, [ids]);
    await client.query(`insert into merchant_settings (merchant_id, mode, currencies) select id, mode, $2::text[] from unnest($1::text[]) id, unnest(array['test', 'live']) mode`, [ids, [...defaultCurrencies]]);
    await client.query(
      `insert into api_keys (id, merchant_id, mode, key_hash, prefix, last4)
       select id, merchant_id, 'test', key_hash, 'svc_test_', last4 from unnest($1::text[], $2::text[], $3::bytea[], $4::text[]) k(id, merchant_id, key_hash, last4)`,
      [keys.map(() => makeId('key', ulid)), keys.map(({ merchantId }) => merchantId), keys.map(({ key }) => createHash('sha256').update(key).digest()), keys.map(({ key }) => key.slice(-4))],
    );
    await client.query('analyze');
  } finally {
    await client.end();
  }
  return merchants.map(({ id, keys: own }) => {
    let turn = 0;
    return { id, key: () => own[turn++ % own.length] ?? '' };
  });
}

const newKey = (): string => `svc_test_${randomBytes(32).toString('base64url').replaceAll(/[-_]/g, 'x')}`;
