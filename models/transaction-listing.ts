// A merchant's payments, page by page. Only those with an attempt are listed. Specification: Listings.
import type { Scope } from '../domain/mode.ts';
import type { TransactionStatus } from '../domain/transaction.ts';
import { camelRow } from './base.ts';
import type { Database } from './database.ts';
import { totalSql } from './listing-count.ts';
import { transactionColumns, type TransactionRow } from './transaction.ts';

export interface TransactionFilter {
  readonly status?: TransactionStatus | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly until?: Date | undefined;
  readonly customerId?: string | undefined;
  readonly currency?: string | undefined;
  readonly source?: string | undefined;
  readonly orderId?: string | undefined;
}

/**
 * Newest first, id breaks ties. The inner query reads an index alone, so that deep pages stay cheap; page and total come
 * from one snapshot. The total is read from counters unless there are filters beside the status: then it is counted.
 */
export async function listTransactions(db: Database, scope: Scope, filter: TransactionFilter, page: { limit: number; offset: number }): Promise<{ rows: TransactionRow[]; total: number }> {
  const where: string[] = ['t.merchant_id = ?', 't.mode = ?', 't.tried_at is not null'];
  const values: unknown[] = [scope.merchantId, scope.mode];
  const add = (sql: string, value: unknown): boolean => {
    if (value === undefined) return false;
    where.push(sql);
    values.push(value);
    return true;
  };
  const byStatus = add('t.status = ?', filter.status);
  const isCounted = ![
    add('t.created_at >= ?', filter.from),
    add('t.created_at < ?', filter.until),
    add('t.customer_id = ?', filter.customerId),
    add('t.currency = ?', filter.currency),
    add('t.source = ?', filter.source),
    add('t.order_id = ?', filter.orderId),
  ].includes(true);
  const condition = where.join(' and ');
  const total = isCounted
    ? { sql: totalSql(byStatus), values: [scope.merchantId, scope.mode, 'transactions', ...(byStatus ? [filter.status] : [])] }
    : { sql: `(select count(*) from transactions t where ${condition})`, values };
  const { rows } = await db.knex.raw<{ rows: { total: number; id: string | null }[] }>(
    `select c.total, p.* from (select ${total.sql} as total) c left join (
       select ${transactionColumns}, t.status from transactions t
       join (select t.id from transactions t where ${condition} order by t.created_at desc, t.id desc limit ? offset ?) i on i.id = t.id
     ) p on true order by p.created_at desc, p.id desc`,
    [...total.values, ...values, page.limit, page.offset] as string[],
  );
  return {
    total: rows[0]?.total ?? 0,
    // A page past the end is one row of nothing but the total.
    rows: rows.filter((row) => row.id !== null).map((row) => camelRow<TransactionRow>(row)),
  };
}
