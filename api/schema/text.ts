// What no text of a body may hold, wherever it stands: NUL (Postgres has no room for it), lone surrogates (no UTF-8 for
// them), keys named __proto__, and nesting without end. One walk over the parsed body.
import type { FieldError } from '../../domain/errors.ts';
import { pathText } from './problems.ts';

/** Far deeper than any schema of ours; metadata has its own, smaller limit. */
export const maxDepth = 32;

/** With the flag u a surrogate matches only when it stands alone. */
// oxlint-disable-next-line no-control-regex
const unfit = /\0|\p{Surrogate}/u;

/** @returns every bad text with its path; at most 100, and one alone when the body is too deep */
export function findBadText(body: unknown): FieldError[] {
  const errors: FieldError[] = [];
  const path: PropertyKey[] = [];
  const tooDeep = !walk(body, path, errors);
  return tooDeep ? [{ path: pathText(path.slice(0, 3)), code: 'too_deep', message: `The body is nested deeper than ${maxDepth} levels.` }] : errors;
}

/** @returns false when the nesting is too deep; `path` then ends there */
function walk(value: unknown, path: PropertyKey[], errors: FieldError[]): boolean {
  if (typeof value === 'string') {
    if (unfit.test(value)) add(errors, path, 'invalid_text', 'must not contain NUL or lone surrogates.');
    return true;
  }
  if (typeof value !== 'object' || value === null) return true;
  if (path.length >= maxDepth) return false;
  const isArray = Array.isArray(value);
  for (const key of Object.keys(value)) {
    path.push(isArray ? Number(key) : key);
    if (!isArray && unfit.test(key)) add(errors, path, 'invalid_text', 'has a name with NUL or lone surrogates.');
    else if (key === '__proto__') add(errors, path, 'unknown_field', 'is not a name a field can have.');
    if (!walk((value as Record<string, unknown>)[key], path, errors)) return false;
    path.pop();
  }
  return true;
}

function add(errors: FieldError[], path: readonly PropertyKey[], code: string, what: string): void {
  if (errors.length >= 100) return;
  const text = pathText(path);
  errors.push({ path: text, code, message: `${text === '' ? 'The body' : text} ${what}` });
}
