// Totals of listings as signed deltas: written in the transaction that adds or moves a row, folded by the sweep. Counting
// half a million rows costs tens of milliseconds, and one counter row per merchant would serialise its payments.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table listing_counts (
      id bigint generated always as identity primary key,
      merchant_id text not null,
      mode mode_name not null,
      listing text not null,
      status text not null default '',
      delta bigint not null
    );
    create index listing_counts_total on listing_counts (merchant_id, mode, listing, status) include (delta);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table listing_counts;');
}
