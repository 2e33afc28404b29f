// Merchants, their settings per mode, API keys and registered redirect domains.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create domain mode_name as text check (value in ('test', 'live'));

    create table merchants (
      id text primary key,
      name text not null check (length(name) between 1 and 250),
      direct_card_live boolean not null default false,
      created_at timestamptz(3) not null default now()
    );

    create table merchant_settings (
      merchant_id text not null references merchants (id),
      mode mode_name not null,
      timezone text not null default 'UTC',
      currencies text[] not null,
      default_gateway text not null default 'simulator',
      logo_url text,
      primary_color text,
      primary key (merchant_id, mode)
    );

    create table api_keys (
      id text primary key,
      merchant_id text not null,
      mode mode_name not null,
      key_hash bytea not null unique,
      prefix text not null,
      last4 text not null,
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3),
      revoked_at timestamptz(3),
      last_used_at timestamptz(3),
      foreign key (merchant_id, mode) references merchant_settings (merchant_id, mode)
    );
    create index api_keys_by_merchant on api_keys (merchant_id, mode);

    create table domains (
      merchant_id text not null,
      mode mode_name not null,
      hostname text not null check (hostname = lower(hostname)),
      kind text not null check (kind in ('plugin', 'payment_redirect')),
      created_at timestamptz(3) not null default now(),
      primary key (merchant_id, mode, hostname),
      foreign key (merchant_id, mode) references merchant_settings (merchant_id, mode)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table domains, api_keys, merchant_settings, merchants; drop domain mode_name;');
}
