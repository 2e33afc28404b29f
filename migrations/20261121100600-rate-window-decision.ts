// What the last admission decided for a rate window, so that a statement can return its own decision.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table rate_windows
      add column admitted integer not null default 0,
      add column capacity integer not null default 0;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table rate_windows drop column admitted, drop column capacity;');
}
