// API requests and gateway calls, kept 30 days: what happened to a payment, without card data. Written in batches.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table api_requests (
      id bigint generated always as identity primary key,
      request_id text not null,
      merchant_id text,
      mode text,
      key_id text,
      method text not null,
      path text not null,
      resource_id text,
      status integer not null,
      error_code text,
      duration_ms integer not null,
      idempotency_key text,
      created_at timestamptz(3) not null
    );
    create index api_requests_listing on api_requests (merchant_id, mode, created_at desc);
    create index api_requests_by_resource on api_requests (resource_id) where resource_id is not null;
    create index api_requests_retention on api_requests (created_at);

    create table gateway_calls (
      id bigint generated always as identity primary key,
      merchant_id text not null,
      mode text not null,
      transaction_id text,
      gateway text not null,
      kind text not null,
      code text not null,
      duration_ms integer not null,
      created_at timestamptz(3) not null
    );
    create index gateway_calls_by_transaction on gateway_calls (transaction_id) where transaction_id is not null;
    create index gateway_calls_retention on gateway_calls (created_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table gateway_calls, api_requests;');
}
