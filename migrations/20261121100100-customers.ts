// Customers and their saved cards. The gateway's reference is sealed; the number never comes near this database.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table customers (
      id text primary key,
      merchant_id text not null,
      mode mode_name not null,
      external_customer_id text,
      name text,
      email text,
      phone text,
      metadata jsonb not null default '{}',
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      unique (id, merchant_id, mode),
      foreign key (merchant_id, mode) references merchant_settings (merchant_id, mode)
    );
    create unique index customers_external_id on customers (merchant_id, mode, external_customer_id)
      where external_customer_id is not null;
    create index customers_listing on customers (merchant_id, mode, created_at desc, id desc);

    create table payment_tokens (
      id text primary key,
      merchant_id text not null,
      mode mode_name not null,
      customer_id text not null,
      gateway text not null,
      status text not null default 'active' check (status in ('active', 'deactivated')),
      brand text not null,
      last4 text not null check (last4 ~ '^[0-9]{4}$'),
      expiry_month smallint not null check (expiry_month between 1 and 12),
      expiry_year smallint not null,
      fingerprint text not null,
      sealed_reference text not null,
      created_at timestamptz(3) not null default now(),
      deactivated_at timestamptz(3),
      unique (id, merchant_id, mode),
      foreign key (customer_id, merchant_id, mode) references customers (id, merchant_id, mode)
    );
    create unique index payment_tokens_one_active on payment_tokens (merchant_id, mode, customer_id, gateway, fingerprint)
      where status = 'active';
    create index payment_tokens_by_customer on payment_tokens (customer_id, created_at desc, id desc);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table payment_tokens, customers;');
}
