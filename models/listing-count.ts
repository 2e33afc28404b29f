// The listing_counts table: totals of listings as signed deltas. Triggers write one with every row that is added or moved;
// the sweep folds them. A total is the sum of all deltas, folded or not, so it is exact at every moment.
import type { Database, Statement } from './database.ts';

export type CountedListing = 'transactions' | 'customers';

/**
 * SQL for the total of a listing, for a statement that binds its values by question marks.
 * @param byStatus whether a status is bound after merchant, mode and listing
 */
export function totalSql(byStatus: boolean): string {
  return `(select coalesce(sum(n.delta), 0)::bigint from listing_counts n where n.merchant_id = ? and n.mode = ? and n.listing = ?${byStatus ? ' and n.status = ?' : ''})`;
}

// Readers see a group before or after the fold, never between: both halves are one statement. Rows held by another fold
// are left to it; two folded rows of one group are as right as one, and the next fold joins them.
const foldStatement: Statement = {
  name: 'fold-listing-counts',
  text: `
    with fresh as (
      select ctid, merchant_id, mode, listing, status from listing_counts where not folded order by id limit $1 for update skip locked
    ),
    groups as (select distinct merchant_id, mode, listing, status from fresh),
    earlier as (
      select n.ctid from listing_counts n join groups g using (merchant_id, mode, listing, status) where n.folded for update of n skip locked
    ),
    gone as (
      delete from listing_counts n where n.ctid = any(array(select ctid from fresh union all select ctid from earlier))
      returning n.merchant_id, n.mode, n.listing, n.status, n.delta, n.folded
    ),
    sums as (
      insert into listing_counts (merchant_id, mode, listing, status, delta, folded)
      select merchant_id, mode, listing, status, sum(delta), true from gone group by merchant_id, mode, listing, status having sum(delta) <> 0
      returning 1
    )
    select count(*) filter (where not folded)::integer as folded, (select count(*) from sums)::integer as kept from gone`,
};

/** For the sweep. @param limit deltas at once @returns how many there were */
export async function foldListingCounts(db: Database, limit: number): Promise<number> {
  const [row] = await db.runAlone<{ folded: number }>(foldStatement, [limit]);
  return row?.folded ?? 0;
}
