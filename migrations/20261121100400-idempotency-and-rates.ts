// Idempotency keys with their stored answers, the rolling rate windows, and facts about the installation.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table idempotency_keys (
      merchant_id text not null,
      mode mode_name not null,
      key text not null check (length(key) between 1 and 255),
      method text not null,
      path text not null,
      fingerprint text not null,
      status text not null default 'in_progress' check (status in ('in_progress', 'completed')),
      reserved jsonb not null default '{}',
      lease_until timestamptz(3),
      resource_type text,
      resource_id text,
      response_status integer,
      sealed_body text,
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null,
      primary key (merchant_id, mode, key),
      check ((status = 'completed') = (response_status is not null))
    ) with (fillfactor = 80);
    create index idempotency_keys_expiry on idempotency_keys (expires_at);

    create unlogged table rate_windows (
      bucket text primary key,
      hits timestamptz[] not null,
      touched_at timestamptz not null default now()
    ) with (fillfactor = 50);

    create table system_facts (
      name text primary key,
      value text not null,
      updated_at timestamptz(3) not null default now()
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table system_facts, rate_windows, idempotency_keys;');
}
