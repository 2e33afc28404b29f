// Payments without a page: captures, voids and refunds as operations of their own, authorisations that lapse, and the
// orders of merchants on refund events.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table transactions
      add column payment_token_id text,
      add column capture boolean not null default true,
      add column initiated_by text not null default 'cardholder' check (initiated_by in ('cardholder', 'merchant')),
      add column amount_refund_pending bigint not null default 0 check (amount_refund_pending >= 0),
      add column refunds_count integer not null default 0 check (refunds_count between 0 and 50),
      add column workflow_started_at timestamptz(3),
      add constraint refunds_within_capture check (amount_refunded + amount_refund_pending <= amount_captured);
    create index transactions_by_customer on transactions (merchant_id, mode, customer_id, created_at desc, id desc) where tried_at is not null;
    create index transactions_by_status on transactions (merchant_id, mode, status, created_at desc, id desc) where tried_at is not null;
    create index transactions_by_order on transactions (merchant_id, mode, order_id, created_at desc, id desc) where order_id is not null and tried_at is not null;
    create index transactions_due on transactions (due_at) where due_at is not null;

    alter table checkout_sessions add column token_only text;

    create table payment_operations (
      id text primary key,
      kind text not null check (kind in ('capture', 'void')),
      transaction_id text not null,
      merchant_id text not null,
      mode mode_name not null,
      amount bigint check (amount >= 1),
      reason text,
      status text not null default 'requested' check (status in ('requested', 'claimed', 'unknown', 'succeeded', 'failed', 'unreached')),
      gateway_key text not null unique,
      n integer not null check (n >= 1),
      failure_code text,
      lookups integer not null default 0,
      due_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      sent_at timestamptz(3),
      settled_at timestamptz(3),
      unique (transaction_id, kind, n),
      foreign key (transaction_id, merchant_id, mode) references transactions (id, merchant_id, mode)
    );
    create unique index payment_operations_one_open on payment_operations (transaction_id) where status in ('requested', 'claimed', 'unknown');
    create index payment_operations_stuck on payment_operations (created_at) where status in ('requested', 'claimed', 'unknown');

    create table refunds (
      id text primary key,
      transaction_id text not null,
      merchant_id text not null,
      mode mode_name not null,
      amount bigint not null check (amount >= 1),
      currency text not null,
      status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
      step text not null default 'requested' check (step in ('requested', 'claimed', 'unknown', 'at_gateway', 'settled')),
      type text not null check (type in ('full', 'partial')),
      reason text,
      order_id text,
      metadata jsonb not null default '{}',
      receipt_number text not null,
      gateway_refund_id text,
      gateway_key text not null unique,
      n integer not null check (n between 1 and 50),
      failure_code text,
      lookups integer not null default 0,
      due_at timestamptz(3),
      created_at timestamptz(3) not null,
      sent_at timestamptz(3),
      completed_at timestamptz(3),
      workflow_started_at timestamptz(3),
      unique (id, merchant_id, mode),
      unique (transaction_id, n),
      foreign key (transaction_id, merchant_id, mode) references transactions (id, merchant_id, mode)
    );
    create index refunds_by_transaction on refunds (transaction_id, n);
    create index refunds_open on refunds (created_at) where status = 'pending';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table refunds, payment_operations;
    alter table checkout_sessions drop column token_only;
    drop index transactions_by_customer, transactions_by_status, transactions_by_order, transactions_due;
    alter table transactions drop constraint refunds_within_capture, drop column payment_token_id, drop column capture, drop column initiated_by,
      drop column amount_refund_pending, drop column refunds_count, drop column workflow_started_at;
  `);
}
