// A merchant's settings in one mode.
import type { SettingsRow } from '../models/merchant.ts';

export function presentSettings(row: SettingsRow) {
  return { name: row.name, timezone: row.timezone, currencies: row.currencies };
}
