// Checkout sessions, the payments reserved for them and the attempts made. `due_at` is the instant the row's workflow
// sleeps to, `event_sequence` numbers the events of the row.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table checkout_sessions (
      id text primary key,
      merchant_id text not null,
      mode mode_name not null,
      status text not null default 'open' check (status in ('open', 'completed', 'failed', 'expired', 'cancelled')),
      amount bigint not null check (amount between 1 and 99999999),
      currency text not null check (currency ~ '^[A-Z]{3}$'),
      description text,
      success_url text not null,
      failure_url text not null,
      cancel_url text,
      line_items jsonb not null default '[]',
      subtotal bigint,
      tax_name text,
      tax_rate double precision,
      tax_amount bigint,
      metadata jsonb not null default '{}',
      gateway text not null,
      source text not null default 'hosted_checkout',
      order_id text,
      locale text,
      customer_id text,
      customer jsonb,
      save_payment_method boolean not null default true,
      capture boolean not null default true,
      origin_domain text,
      recovered_from text,
      transaction_id text not null unique,
      attempt_in_flight boolean not null default false,
      event_sequence integer not null default 0,
      expires_at timestamptz(3) not null,
      due_at timestamptz(3),
      completed_at timestamptz(3),
      workflow_started_at timestamptz(3),
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      unique (id, merchant_id, mode),
      check ((status = 'completed') = (completed_at is not null)),
      foreign key (merchant_id, mode) references merchant_settings (merchant_id, mode)
    ) with (fillfactor = 80);
    create index checkout_sessions_listing on checkout_sessions (merchant_id, mode, created_at desc, id desc);
    create index checkout_sessions_due on checkout_sessions (due_at) where status = 'open';
    create index checkout_sessions_unstarted on checkout_sessions (created_at) where status = 'open' and workflow_started_at is null;

    create table transactions (
      id text primary key,
      merchant_id text not null,
      mode mode_name not null,
      session_id text,
      status text not null default 'pending' check (status in ('pending', 'requires_action', 'processing', 'authorized',
        'captured', 'partially_refunded', 'refunded', 'voided', 'failed', 'expired')),
      amount bigint not null check (amount between 1 and 99999999),
      amount_captured bigint not null default 0 check (amount_captured between 0 and amount),
      amount_refunded bigint not null default 0 check (amount_refunded between 0 and amount_captured),
      currency text not null,
      source text not null,
      description text,
      order_id text,
      metadata jsonb not null default '{}',
      origin_domain text,
      customer_id text,
      customer_name text,
      customer_email text,
      customer_phone text,
      gateway text not null,
      gateway_transaction_id text,
      token_id text,
      card_brand text,
      card_last4 text,
      card_expiry_month smallint,
      card_expiry_year smallint,
      receipt_number text not null,
      failure jsonb,
      pending_operation text,
      event_sequence integer not null default 0,
      tried_at timestamptz(3),
      authorized_at timestamptz(3),
      captured_at timestamptz(3),
      voided_at timestamptz(3),
      due_at timestamptz(3),
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      unique (id, merchant_id, mode),
      foreign key (session_id, merchant_id, mode) references checkout_sessions (id, merchant_id, mode)
    ) with (fillfactor = 80);
    create index transactions_by_session on transactions (session_id);
    create index transactions_listing on transactions (merchant_id, mode, created_at desc, id desc) where tried_at is not null;
    create index transactions_processing on transactions (updated_at) where status = 'processing';

    create table payment_attempts (
      id text primary key,
      transaction_id text not null,
      session_id text,
      merchant_id text not null,
      mode mode_name not null,
      n integer not null check (n >= 1),
      status text not null default 'requested' check (status in ('requested', 'claimed', 'requires_action', 'unknown',
        'approved', 'declined', 'unreached', 'refused', 'cancelled')),
      gateway text not null,
      gateway_key text not null unique,
      initiated_by text not null check (initiated_by in ('cardholder', 'merchant')),
      sealed_card_reference text not null,
      card jsonb not null,
      payer jsonb not null default '{}',
      token_id text,
      action_url text,
      outcome jsonb,
      lookups integer not null default 0,
      created_at timestamptz(3) not null default now(),
      claimed_at timestamptz(3),
      sent_at timestamptz(3),
      settled_at timestamptz(3),
      unique (transaction_id, n),
      foreign key (transaction_id, merchant_id, mode) references transactions (id, merchant_id, mode)
    ) with (fillfactor = 80);
    create unique index payment_attempts_one_open on payment_attempts (transaction_id)
      where status in ('requested', 'claimed', 'requires_action', 'unknown');
    create index payment_attempts_stuck on payment_attempts (created_at) where status in ('requested', 'claimed');
    create index payment_attempts_unknown on payment_attempts (created_at) where status in ('unknown', 'requires_action');
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table payment_attempts, transactions, checkout_sessions;');
}
