// Card setups: hosted pages that save a customer's card without charging it.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table card_setup_sessions (
      id text primary key,
      merchant_id text not null,
      mode mode_name not null,
      customer_id text not null,
      subscription_id text,
      gateway text not null,
      status text not null default 'open' check (status in ('open', 'completed', 'failed', 'expired', 'cancelled')),
      success_url text not null,
      failure_url text not null,
      cancel_url text,
      rejected_cards smallint not null default 0,
      token_id text,
      expires_at timestamptz(3) not null,
      completed_at timestamptz(3),
      workflow_started_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      unique (id, merchant_id, mode),
      foreign key (customer_id, merchant_id, mode) references customers (id, merchant_id, mode),
      foreign key (token_id, merchant_id, mode) references payment_tokens (id, merchant_id, mode),
      check ((status = 'completed') = (token_id is not null)),
      check ((status = 'completed') = (completed_at is not null))
    );
    create index card_setup_sessions_open on card_setup_sessions (expires_at) where status = 'open';
    create index card_setup_sessions_by_customer on card_setup_sessions (customer_id, created_at desc);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table card_setup_sessions;');
}
