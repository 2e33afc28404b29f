// The customers table: a merchant's customers, unique by the merchant's own id where it gave one. How many cards each has
// saved comes along with every read.
import type { Knex } from 'knex';
import { UniqueViolationError } from 'objection';
import type { Mode, Scope } from '../domain/mode.ts';
import { BaseModel, camelRow } from './base.ts';
import type { Database, Statement } from './database.ts';
import { totalSql } from './listing-count.ts';

export class Customer extends BaseModel {
  static override tableName = 'customers';
  declare id: string;
  declare merchantId: string;
  declare mode: Mode;
  declare externalCustomerId: string | null;
  declare name: string | null;
  declare email: string | null;
  declare phone: string | null;
  declare metadata: Readonly<Record<string, unknown>>;
  declare defaultTokenId: string | null;
  declare updatedAt: Date;
}

export interface CustomerRow {
  readonly id: string;
  readonly mode: Mode;
  readonly externalCustomerId: string | null;
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The active card the merchant chose, else the newest active one. */
  readonly defaultTokenId: string | null;
  /** Active ones. */
  readonly tokensCount: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const select = `select c.id, c.mode, c.external_customer_id, c.name, c.email, c.phone, c.metadata, k.default_token_id, k.tokens_count, c.created_at, c.updated_at
  from customers c cross join lateral (
    select count(*)::integer as tokens_count,
      (array_agg(k.id order by coalesce(k.id = c.default_token_id, false) desc, k.created_at desc, k.id desc))[1] as default_token_id
    from payment_tokens k where k.customer_id = c.id and k.status = 'active'
  ) k`;

const findStatement: Statement = {
  name: 'find-customer',
  text: `${select} where c.id = $1 and c.merchant_id = $2 and c.mode = $3`,
};

/** The merchant's customer, or null when it is absent, another merchant's or another mode's. */
export async function findCustomer(db: Database, scope: Scope, id: string): Promise<CustomerRow | null> {
  const [row] = await db.run<object>(findStatement, [id, scope.merchantId, scope.mode]);
  return row === undefined ? null : camelRow<CustomerRow>(row);
}

/** The same inside a transaction, to see what it wrote. */
export async function readCustomer(knex: Knex, scope: Scope, id: string): Promise<CustomerRow> {
  const { rows } = await knex.raw<{ rows: object[] }>(`${select} where c.id = ? and c.merchant_id = ? and c.mode = ?`, [id, scope.merchantId, scope.mode]);
  const [row] = rows;
  if (row === undefined) throw new Error(`no customer ${id}`);
  return camelRow<CustomerRow>(row);
}

export interface NewCustomer {
  readonly id: string;
  readonly externalCustomerId: string | null;
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Waits for a concurrent writer of the same external id. @returns false when that id is taken */
export async function insertCustomer(knex: Knex, scope: Scope, customer: NewCustomer): Promise<boolean> {
  const { rowCount } = await knex.raw<{ rowCount: number }>(
    `insert into customers (id, merchant_id, mode, external_customer_id, name, email, phone, metadata) values (?, ?, ?, ?, ?, ?, ?, ?::jsonb)
     on conflict (merchant_id, mode, external_customer_id) where external_customer_id is not null do nothing`,
    [customer.id, scope.merchantId, scope.mode, customer.externalCustomerId, customer.name, customer.email, customer.phone, JSON.stringify(customer.metadata)] as string[],
  );
  return rowCount > 0;
}

export interface CustomerChange {
  readonly externalCustomerId?: string | null;
  readonly name?: string | null;
  readonly email?: string | null;
  readonly phone?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly defaultTokenId?: string | null;
}

/** Changes what is given, the metadata as a whole. `taken`: another customer has the external id; the transaction is lost. */
export async function updateCustomerRow(knex: Knex, scope: Scope, id: string, change: CustomerChange, now: Date): Promise<'updated' | 'absent' | 'taken'> {
  const patch = { ...change, updatedAt: now } as Partial<Customer>;
  try {
    const count = await Customer.query(knex).where({ id, merchantId: scope.merchantId, mode: scope.mode }).patch(patch);
    return count > 0 ? 'updated' : 'absent';
  } catch (error) {
    if (error instanceof UniqueViolationError) return 'taken';
    throw error;
  }
}

/** The customer with the merchant's own id, or null. */
export async function findCustomerIdByExternalId(knex: Knex, scope: Scope, externalCustomerId: string): Promise<string | null> {
  const row = await Customer.query(knex).findOne({ merchantId: scope.merchantId, mode: scope.mode, externalCustomerId }).select('id');
  return row?.id ?? null;
}

export interface CustomerFilter {
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly until?: Date | undefined;
  readonly externalCustomerId?: string | undefined;
  readonly email?: string | undefined;
}

/** Newest first, id breaks ties; see `listTransactions` for the shape of the statement. */
export async function listCustomers(db: Database, scope: Scope, filter: CustomerFilter, page: { limit: number; offset: number }): Promise<{ rows: CustomerRow[]; total: number }> {
  const where: string[] = ['c.merchant_id = ?', 'c.mode = ?'];
  const values: unknown[] = [scope.merchantId, scope.mode];
  for (const [sql, value] of [
    ['c.created_at >= ?', filter.from],
    ['c.created_at < ?', filter.until],
    ['c.external_customer_id = ?', filter.externalCustomerId],
    ['c.email = ?', filter.email],
  ] as const) {
    if (value === undefined) continue;
    where.push(sql);
    values.push(value);
  }
  const condition = where.join(' and ');
  const total =
    where.length === 2
      ? { sql: totalSql(false), values: [scope.merchantId, scope.mode, 'customers'] }
      : { sql: `(select count(*) from customers c where ${condition})`, values };
  const { rows } = await db.knex.raw<{ rows: { total: number; id: string | null }[] }>(
    `select n.total, p.* from (select ${total.sql} as total) n left join (
       ${select} join (select c.id from customers c where ${condition} order by c.created_at desc, c.id desc limit ? offset ?) i on i.id = c.id
     ) p on true order by p.created_at desc, p.id desc`,
    [...total.values, ...values, page.limit, page.offset] as string[],
  );
  return { total: rows[0]?.total ?? 0, rows: rows.filter((row) => row.id !== null).map((row) => camelRow<CustomerRow>(row)) };
}
