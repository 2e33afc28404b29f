// Events as they are sent, the endpoints they go to, and what became of every delivery and attempt.
import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A prefix and a ULID in lower case, for rows whose number is only known inside a statement.
    create function make_id(prefix text) returns text language sql volatile as $$
      select prefix || '_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', digit + 1, 1), '' order by place)
      from (
        select place, ((floor(extract(epoch from clock_timestamp()) * 1000)::bigint >> (5 * (9 - place))) & 31)::integer as digit
        from generate_series(0, 9) place
        union all
        select 10 + place, get_byte(random_bytes, place) & 31
        from generate_series(0, 15) place, (select uuid_send(gen_random_uuid()) as random_bytes) r
      ) digits
    $$;

    create table events (
      id text primary key,
      merchant_id text not null,
      mode mode_name not null,
      type text not null,
      resource_type text not null,
      resource_id text not null,
      sequence integer not null check (sequence >= 1),
      body text not null,
      created_at timestamptz(3) not null,
      inserted_at timestamptz(3) not null default now(),
      xid xid8 not null default pg_current_xact_id(),
      unique (resource_id, sequence)
    );
    create index events_listing on events (merchant_id, mode, inserted_at desc, id desc);
    create index events_retention on events (inserted_at);

    create table webhook_endpoints (
      id text primary key,
      merchant_id text not null,
      mode mode_name not null,
      kind text not null default 'endpoint' check (kind in ('endpoint', 'automation')),
      url text not null check (length(url) <= 2048),
      description text,
      events text[] not null,
      enabled boolean not null default true,
      disabled_reason text,
      disabled_at timestamptz(3),
      sealed_secret text not null,
      sealed_next_secret text,
      swaps_at timestamptz(3),
      failing_since timestamptz(3),
      consecutive_failures integer not null default 0,
      last_success_at timestamptz(3),
      last_failure_at timestamptz(3),
      slow boolean not null default false,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      deleted_at timestamptz(3),
      unique (id, merchant_id, mode),
      foreign key (merchant_id, mode) references merchant_settings (merchant_id, mode)
    ) with (fillfactor = 80);
    create index webhook_endpoints_by_merchant on webhook_endpoints (merchant_id, mode) where deleted_at is null;

    create table deliveries (
      id text primary key,
      event_id text not null references events (id) on delete cascade,
      endpoint_id text not null references webhook_endpoints (id),
      merchant_id text not null,
      mode mode_name not null,
      resource_id text not null,
      sequence integer not null,
      status text not null check (status in ('pending', 'sending', 'retrying', 'delivered', 'failed', 'skipped', 'cancelled')),
      round integer not null default 1,
      attempt_count integer not null default 0,
      due_at timestamptz(3),
      leased_until timestamptz(3),
      workflow_started_at timestamptz(3),
      last_status_code integer,
      last_error text,
      created_at timestamptz(3) not null default now(),
      delivered_at timestamptz(3),
      unique (event_id, endpoint_id)
    ) with (fillfactor = 80);
    create index deliveries_open on deliveries (endpoint_id, resource_id, sequence) where status in ('pending', 'sending', 'retrying');
    create index deliveries_due on deliveries (due_at) where status in ('pending', 'sending', 'retrying');
    create index deliveries_listing on deliveries (endpoint_id, created_at desc, id desc);

    create table delivery_attempts (
      delivery_id text not null references deliveries (id) on delete cascade,
      n integer not null check (n >= 1),
      round integer not null default 1,
      started_at timestamptz(3) not null,
      duration_ms integer,
      status_code integer,
      response_headers jsonb,
      response_body text,
      error text,
      error_stage text,
      primary key (delivery_id, n)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table delivery_attempts, deliveries, webhook_endpoints, events; drop function make_id(text);');
}
