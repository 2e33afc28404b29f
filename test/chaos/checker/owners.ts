// V8: no row, event or id crosses merchant or mode. Every join by which one row names another is looked at from both ends.
import type { World } from '../world.ts';
import type { Violation } from './checker.ts';

/** Rows on both ends of a reference; they must agree on merchant and mode, and the named row must exist. */
const references: readonly (readonly [table: string, column: string, target: string, targetColumn: string])[] = [
  ['checkout_sessions', 'transaction_id', 'transactions', 'id'],
  ['checkout_sessions', 'customer_id', 'customers', 'id'],
  ['checkout_sessions', 'recovered_from', 'checkout_sessions', 'id'],
  ['transactions', 'session_id', 'checkout_sessions', 'id'],
  ['transactions', 'customer_id', 'customers', 'id'],
  ['transactions', 'token_id', 'payment_tokens', 'id'],
  ['payment_tokens', 'customer_id', 'customers', 'id'],
  ['payment_attempts', 'transaction_id', 'transactions', 'id'],
  ['payment_attempts', 'session_id', 'checkout_sessions', 'id'],
  ['payment_attempts', 'token_id', 'payment_tokens', 'id'],
  ['payment_operations', 'transaction_id', 'transactions', 'id'],
  ['refunds', 'transaction_id', 'transactions', 'id'],
  ['transactions', 'payment_token_id', 'payment_tokens', 'id'],
  ['deliveries', 'event_id', 'events', 'id'],
  ['deliveries', 'endpoint_id', 'webhook_endpoints', 'id'],
  ['gateway_calls', 'transaction_id', 'transactions', 'id'],
  [`(select * from idempotency_keys where resource_id like 'cs\\_%')`, 'resource_id', 'checkout_sessions', 'id'],
  [`(select * from idempotency_keys where resource_id like 'txn\\_%')`, 'resource_id', 'transactions', 'id'],
  [`(select * from idempotency_keys where resource_type = 'refund')`, 'resource_id', 'refunds', 'id'],
];

export async function checkOwners({ stack, merchants }: World): Promise<Violation[]> {
  const violations: Violation[] = [];
  const add = (what: string): void => void violations.push({ invariant: 'V8', what });
  for (const [table, column, target, targetColumn] of references) {
    const rows = await stack.query<{ named: string }>(
      `select a.${column} as named from ${table} a left join ${target} b on b.${targetColumn} = a.${column}
       where a.${column} is not null and (b.${targetColumn} is null or a.merchant_id is distinct from b.merchant_id or a.mode::text is distinct from b.mode::text)`,
    );
    if (rows.length > 0) add(`${rows.length} rows of ${table} name by ${column} a row of ${target} that is missing or of another merchant or mode, the first: ${rows[0]?.named}`);
  }
  const strays = await stack.query<{ id: string }>(
    `select e.id from events e left join (
        select id, merchant_id, mode from transactions union all select id, merchant_id, mode from checkout_sessions) r on r.id = e.resource_id
      where r.id is null or r.merchant_id <> e.merchant_id or r.mode <> e.mode or e.body::jsonb ->> 'mode' <> e.mode or e.body::jsonb ->> 'id' <> e.id
        or e.body::jsonb -> 'resource' ->> 'id' <> e.resource_id`,
  );
  for (const { id } of strays) add(`event ${id} does not agree with the resource it is about`);
  // An event's body may name only its own merchant's ids.
  for (const merchant of merchants) {
    const foreign = await stack.query<{ id: string }>(
      `select e.id from events e cross join lateral regexp_matches(e.body, '"((?:cs|txn|cus|pt)_[0-9a-z]{26})"', 'g') m
        join (select id, merchant_id from checkout_sessions union all select id, merchant_id from transactions
          union all select id, merchant_id from customers union all select id, merchant_id from payment_tokens) o on o.id = m[1]
        where e.merchant_id = $1 and o.merchant_id <> e.merchant_id`,
      [merchant.id],
    );
    for (const { id } of foreign) add(`event ${id} of ${merchant.id} names an id of another merchant`);
  }
  return violations;
}
