// The base of every Objection model: snake_case in the database, camelCase in code, converted here and nowhere else.
import { Model, snakeCaseMappers } from 'objection';

export class BaseModel extends Model {
  static override get columnNameMappers() {
    return snakeCaseMappers();
  }
  static override get useLimitInFirst() {
    return true;
  }
}

const camelNames = new Map<string, string>();

/** A row of a raw statement with its column names in camelCase; nested JSON is left alone. */
export function camelRow<Row extends object>(row: object): Row {
  const result: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    let name = camelNames.get(column);
    if (name === undefined) {
      name = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
      camelNames.set(column, name);
    }
    result[name] = value;
  }
  return result as Row;
}
