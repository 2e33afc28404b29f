// A request the simulated gateway turns down, and reading the fields of one. Every refusal but a reused key says
// `charged: false`: the caller may rely on nothing having happened.

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, error: string, more: Readonly<Record<string, unknown>> = {}) {
    super(error);
    this.status = status;
    this.body = { error, charged: false, ...more };
  }
}

export type Fields = Readonly<Record<string, unknown>>;

export function textField(fields: Fields, name: string, pattern = /^[^\0]{1,2048}$/): string {
  const value = fields[name];
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw invalid(name);
}

/** A positive whole number of minor units. */
export function amountField(fields: Fields): number {
  const value = fields.amount;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw invalid('amount');
}

export function currencyField(fields: Fields): string {
  return textField(fields, 'currency', /^[A-Z]{3}$/);
}

export function returnUrlField(fields: Fields): string | null {
  if (fields.return_url === null || fields.return_url === undefined) return null;
  const value = textField(fields, 'return_url', /^https?:\/\/[\x21-\x7e]+$/);
  if (URL.canParse(value)) return value;
  throw invalid('return_url');
}

export function invalid(field: string, message = `${field} is missing or not valid`): Refusal {
  return new Refusal(422, 'invalid_request', { field, message });
}
