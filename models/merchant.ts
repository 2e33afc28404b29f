// The merchants and merchant_settings tables: who the merchant is, and what is set per mode.
import type { Knex } from 'knex';
import type { Mode, Scope } from '../domain/mode.ts';
import { BaseModel } from './base.ts';
import type { Database, Statement } from './database.ts';

export class Merchant extends BaseModel {
  static override tableName = 'merchants';
  declare id: string;
  declare name: string;
  declare directCardLive: boolean;
  declare createdAt: Date;
}

export class MerchantSettings extends BaseModel {
  static override tableName = 'merchant_settings';
  static override idColumn = ['merchant_id', 'mode'];
  declare merchantId: string;
  declare mode: Mode;
  declare timezone: string;
  declare currencies: string[];
  declare defaultGateway: string;
  declare logoUrl: string | null;
  declare primaryColor: string | null;
}

export async function insertMerchant(knex: Knex, merchant: { id: string; name: string; currencies: readonly string[]; modes: readonly Mode[] }): Promise<void> {
  await Merchant.query(knex).insert({ id: merchant.id, name: merchant.name });
  for (const mode of merchant.modes) {
    await MerchantSettings.query(knex).insert({ merchantId: merchant.id, mode, currencies: [...merchant.currencies] });
  }
}

export async function findMerchant(knex: Knex, id: string): Promise<Merchant | null> {
  return (await Merchant.query(knex).findById(id)) ?? null;
}

/** @returns false when there is no such merchant */
export async function setDirectCardLive(knex: Knex, id: string, allowed: boolean): Promise<boolean> {
  return (await Merchant.query(knex).where({ id }).patch({ directCardLive: allowed })) > 0;
}

/** Oldest first, for the operator's command line. */
export async function listMerchants(knex: Knex): Promise<Merchant[]> {
  return Merchant.query(knex).orderBy(['createdAt', 'id']);
}

export interface SettingsRow {
  readonly name: string;
  readonly timezone: string;
  readonly currencies: readonly string[];
}

const settingsStatement: Statement = {
  name: 'merchant-settings',
  text: `select m.name, s.timezone, s.currencies from merchant_settings s join merchants m on m.id = s.merchant_id where s.merchant_id = $1 and s.mode = $2`,
};

export async function findSettings(db: Database, scope: Scope): Promise<SettingsRow> {
  const [row] = await db.run<SettingsRow>(settingsStatement, [scope.merchantId, scope.mode]);
  if (row === undefined) throw new Error(`merchant ${scope.merchantId} has no settings`);
  return row;
}

/** Changes what is given, inside the caller's transaction; the name is shared by both modes. @returns the settings after it */
export async function updateSettings(knex: Knex, scope: Scope, change: { name?: string; timezone?: string; currencies?: readonly string[] }): Promise<SettingsRow> {
  const { name, ...settings } = change;
  if (name !== undefined) await Merchant.query(knex).where({ id: scope.merchantId }).patch({ name });
  if (Object.keys(settings).length > 0) {
    const patch = { ...settings, ...(settings.currencies === undefined ? {} : { currencies: [...settings.currencies] }) };
    await MerchantSettings.query(knex).where({ merchantId: scope.merchantId, mode: scope.mode }).patch(patch as Partial<MerchantSettings>);
  }
  const row = await MerchantSettings.query(knex).findOne({ merchantId: scope.merchantId, mode: scope.mode }).throwIfNotFound();
  const merchant = await Merchant.query(knex).findById(scope.merchantId).throwIfNotFound();
  return { name: merchant.name, timezone: row.timezone, currencies: row.currencies };
}

const dayStatement: Statement = {
  name: 'merchant-days',
  text: `select ($3::date)::timestamp at time zone s.timezone as from, ($4::date + 1)::timestamp at time zone s.timezone as until
    from merchant_settings s where s.merchant_id = $1 and s.mode = $2`,
};

/**
 * Where calendar days begin and end in the merchant's time zone.
 * @param days ISO dates; `to` is inclusive, so `until` is the first instant of the day after
 */
export async function merchantDays(db: Database, scope: Scope, days: { from: string | null; to: string | null }): Promise<{ from: Date | null; until: Date | null }> {
  const [row] = await db.run<{ from: Date | null; until: Date | null }>(dayStatement, [scope.merchantId, scope.mode, days.from, days.to]);
  return row ?? { from: null, until: null };
}
