// Writes the deltas of listing_counts, in the transaction that adds or moves a row, whoever does it. Inserts are counted by
// statement, so that a bulk load leaves one delta; moves by row, for those rows alone whose status changed. Also: which
// rows the sweep has folded, and the card a customer prefers.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table listing_counts add column folded boolean not null default false, drop constraint listing_counts_pkey;
    create index listing_counts_unfolded on listing_counts (id) where not folded;

    create function count_transactions_inserted() returns trigger language plpgsql as $$
    begin
      insert into listing_counts (merchant_id, mode, listing, status, delta)
      select merchant_id, mode, 'transactions', status, count(*) from fresh where tried_at is not null group by merchant_id, mode, status;
      return null;
    end $$;
    create function count_transaction_moved() returns trigger language plpgsql as $$
    begin
      if old.tried_at is not null then
        insert into listing_counts (merchant_id, mode, listing, status, delta) values (old.merchant_id, old.mode, 'transactions', old.status, -1);
      end if;
      if new.tried_at is not null then
        insert into listing_counts (merchant_id, mode, listing, status, delta) values (new.merchant_id, new.mode, 'transactions', new.status, 1);
      end if;
      return null;
    end $$;
    create function count_customers_inserted() returns trigger language plpgsql as $$
    begin
      insert into listing_counts (merchant_id, mode, listing, delta)
      select merchant_id, mode, 'customers', count(*) from fresh group by merchant_id, mode;
      return null;
    end $$;

    create trigger count_inserted after insert on transactions referencing new table as fresh
      for each statement execute function count_transactions_inserted();
    create trigger count_moved after update on transactions for each row
      when (old.status <> new.status or (old.tried_at is null) <> (new.tried_at is null)) execute function count_transaction_moved();
    create trigger count_inserted after insert on customers referencing new table as fresh
      for each statement execute function count_customers_inserted();

    -- The triggers hold both tables against writers until the commit, so nothing is missed or counted twice.
    insert into listing_counts (merchant_id, mode, listing, status, delta, folded)
      select merchant_id, mode, 'transactions', status, count(*), true from transactions where tried_at is not null group by merchant_id, mode, status;
    insert into listing_counts (merchant_id, mode, listing, delta, folded)
      select merchant_id, mode, 'customers', count(*), true from customers group by merchant_id, mode;

    alter table customers add column default_token_id text;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table customers drop column default_token_id;
    drop trigger count_inserted on customers;
    drop trigger count_moved on transactions;
    drop trigger count_inserted on transactions;
    drop function count_customers_inserted, count_transaction_moved, count_transactions_inserted;
    truncate listing_counts;
    alter table listing_counts drop column folded, add primary key (id);
  `);
}
