// Fills a database with years of trade by generate_series: sessions, payments, refunds, customers, saved cards and
// idempotency keys of one merchant. Ids are counted, so that whoever seeds knows them.
import type pg from 'pg';

export interface SeededRows {
  /** A captured payment with a refund, in the middle. */
  readonly paymentId: string;
  readonly sessionId: string;
  readonly customerId: string;
  readonly externalCustomerId: string;
}

type Client = Pick<pg.Client, 'query'>;

/**
 * @param client of the database's owner, outside a transaction
 * @param prefix one or two digits, different for each call on the same database
 * @param count rows of each kind; refunds are a tenth of it
 * @param parts `payments` for payments alone
 */
export async function seedRows(client: Client, merchantId: string, prefix: string, count: number, parts: 'everything' | 'payments' = 'everything'): Promise<SeededRows> {
  const id = (kind: string, i = 'i'): string => `'${kind}_' || lpad('${prefix}', 4, '0') || lpad((${i})::text, 22, '0')`;
  // A payment every minute, the last one just now.
  const at = `now() - ($2 - i) * interval '1 minute'`;
  const insert = (sql: string, rows = count): Promise<unknown> => client.query(sql, [merchantId, rows]);
  const everything = parts === 'everything';
  // Without triggers: neither foreign keys row by row nor the deltas of the counters, which are added below.
  await client.query(`set session_replication_role = 'replica'`);
  if (everything) {
    await insert(`insert into customers (id, merchant_id, mode, external_customer_id, name, email, created_at, updated_at)
      select ${id('cus')}, $1, 'test', 'ext-${prefix}-' || i, 'Customer ' || i, 'c' || i || '@shop.example', ${at}, ${at} from generate_series(1, $2::integer) i`);
    await insert(`insert into payment_tokens (id, merchant_id, mode, customer_id, gateway, brand, last4, expiry_month, expiry_year, fingerprint, sealed_reference, created_at)
      select ${id('tok')}, $1, 'test', ${id('cus')}, 'simulator', 'visa', '4242', 12, 2040, md5(i::text), 'sealed', ${at} from generate_series(1, $2::integer) i`);
    await insert(`insert into checkout_sessions (id, merchant_id, mode, status, amount, currency, success_url, failure_url, gateway, transaction_id, expires_at, completed_at, workflow_started_at, created_at, updated_at)
      select ${id('cs')}, $1, 'test', 'completed', 2500, 'USD', 'https://shop.example/thanks', 'https://shop.example/sorry', 'simulator', ${id('txn')}, ${at} + interval '1 day', ${at}, ${at}, ${at}, ${at}
      from generate_series(1, $2::integer) i`);
    await insert(`insert into idempotency_keys (merchant_id, mode, key, method, path, fingerprint, status, response_status, sealed_body, expires_at)
      select $1, 'test', 'seeded-${prefix}-' || i, 'POST', '/checkout-sessions', md5(i::text), 'completed', 201, repeat('x', 400), now() + interval '30 days' from generate_series(1, $2::integer) i`);
  }
  await insert(`insert into transactions (id, merchant_id, mode, session_id, status, amount, amount_captured, amount_refunded, currency, source, customer_id, customer_name, customer_email, gateway,
      gateway_transaction_id, card_brand, card_last4, card_expiry_month, card_expiry_year, receipt_number, refunds_count, tried_at, captured_at, created_at, updated_at)
    select ${id('txn')}, $1, 'test', ${everything ? id('cs') : 'null'}, case when i % 10 = 0 then 'partially_refunded' else 'captured' end, 2500, 2500, case when i % 10 = 0 then 500 else 0 end,
      'USD', 'hosted_checkout', ${everything ? id('cus') : 'null'}, 'Customer ' || i, 'c' || i || '@shop.example', 'simulator', 'sim_' || i, 'visa', '4242', 12, 2040, 'R' || i,
      case when i % 10 = 0 then 1 else 0 end, ${at}, ${at}, ${at}, ${at} from generate_series(1, $2::integer) i`);
  if (everything) {
    await insert(
      `insert into refunds (id, transaction_id, merchant_id, mode, amount, currency, status, step, type, receipt_number, gateway_key, n, created_at, completed_at)
       select ${id('rf')}, ${id('txn', 'i * 10')}, $1, 'test', 500, 'USD', 'succeeded', 'settled', 'partial', 'R', ${id('key')}, 1, now(), now() from generate_series(1, $2::integer) i`,
      Math.floor(count / 10),
    );
  }
  await insert(`insert into listing_counts (merchant_id, mode, listing, status, delta, folded)
    select $1, 'test', 'transactions', status, n, true
    from (select case when i % 10 = 0 then 'partially_refunded' else 'captured' end as status, count(*) as n from generate_series(1, $2::integer) i group by 1) counted`);
  if (everything) await insert(`insert into listing_counts (merchant_id, mode, listing, delta, folded) values ($1, 'test', 'customers', $2::integer, true)`);
  await client.query('reset session_replication_role');
  const middle = Math.max(10, Math.floor(count / 20) * 10);
  const known = (kind: string): string => `${kind}_${prefix.padStart(4, '0')}${String(middle).padStart(22, '0')}`;
  return { paymentId: known('txn'), sessionId: known('cs'), customerId: known('cus'), externalCustomerId: `ext-${prefix}-${middle}` };
}

/** What autovacuum would have done by the time a table is that large: statistics, and pages marked all-visible. */
export async function settleTables(client: Client): Promise<void> {
  await client.query('vacuum (analyze)');
}
