// The accounts merchants have at real gateways, credentials sealed, and the notifications gateways have sent, so that one
// told twice is acted upon once.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table gateway_accounts (
      id text primary key,
      merchant_id text not null,
      mode mode_name not null,
      gateway text not null check (gateway ~ '^[a-z0-9_]{1,40}$'),
      sealed_credentials text,
      sealed_notification_secret text,
      enabled boolean not null default true,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      unique (merchant_id, mode, gateway),
      foreign key (merchant_id, mode) references merchant_settings (merchant_id, mode)
    );
    create index gateway_accounts_notified on gateway_accounts (gateway, created_at) where sealed_notification_secret is not null;

    create table gateway_notifications (
      gateway text not null,
      notification_id text not null,
      received_at timestamptz(3) not null default now(),
      handled_at timestamptz(3),
      primary key (gateway, notification_id)
    );
    create index gateway_notifications_age on gateway_notifications (received_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table gateway_notifications, gateway_accounts;');
}
