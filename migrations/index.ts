// Every migration in order. The list is static because Knex cannot load TypeScript files by itself.
import type { Knex } from 'knex';
import * as merchants from './20261121100000-merchants.ts';
import * as customers from './20261121100100-customers.ts';
import * as sessions from './20261121100200-checkout-sessions.ts';
import * as events from './20261121100300-events.ts';
import * as idempotency from './20261121100400-idempotency-and-rates.ts';
import * as requestLog from './20261121100500-request-log.ts';
import * as rateWindowDecision from './20261121100600-rate-window-decision.ts';
import * as payments from './20261121110000-payments.ts';
import * as listingCounts from './20261121110100-listing-counts.ts';
import * as gatewayAccounts from './20261121110200-gateway-accounts.ts';
import * as listingDeltas from './20261121110300-listing-deltas.ts';
import * as cardSetupSessions from './20261121110400-card-setup-sessions.ts';

interface Migration {
  up(knex: Knex): Promise<unknown>;
  down(knex: Knex): Promise<unknown>;
}

const migrations: Readonly<Record<string, Migration>> = {
  '20261121100000-merchants': merchants,
  '20261121100100-customers': customers,
  '20261121100200-checkout-sessions': sessions,
  '20261121100300-events': events,
  '20261121100400-idempotency-and-rates': idempotency,
  '20261121100500-request-log': requestLog,
  '20261121110000-payments': payments,
  '20261121110100-listing-counts': listingCounts,
  '20261121110200-gateway-accounts': gatewayAccounts,
  '20261121100600-rate-window-decision': rateWindowDecision,
  '20261121110300-listing-deltas': listingDeltas,
  '20261121110400-card-setup-sessions': cardSetupSessions,
};

export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => Object.keys(migrations).sort(),
  getMigrationName: (name) => name,
  getMigration: async (name) => {
    const migration = migrations[name];
    if (migration === undefined) throw new Error(`no migration named ${name}`);
    return migration as Knex.Migration;
  },
};
