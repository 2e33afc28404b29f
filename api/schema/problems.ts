// From what a schema found to the fields of the error body: all of them, each with a path like `line_items[0].quantity`.
import type { FieldError } from '../../domain/errors.ts';
import type { z } from './zod.ts';

type Issue = z.core.$ZodIssue;

/** @param prefix what the value is called when it is bad as a whole: `body`, `query` */
export function toFieldErrors(issues: readonly Issue[]): FieldError[] {
  return issues.flatMap((issue) => {
    const path = pathText(issue.path);
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => {
        const field = path === '' ? shown(key) : `${path}.${shown(key)}`;
        return { path: field, code: 'unknown_field', message: `${field} is not a field of this request.` };
      });
    }
    return [{ path, code: codeOf(issue), message: messageOf(issue, path === '' ? 'The body' : path) }];
  });
}

/** `['line_items', 0, 'quantity']` → `line_items[0].quantity`. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? shown(String(part)) : `.${shown(String(part))}`;
  }
  return text;
}

/** A key of the caller's, short and printable. */
function shown(key: string): string {
  const safe = key.replace(/\p{Surrogate}|\p{C}/gu, '?');
  return safe.length > 64 ? `${safe.slice(0, 64)}…` : safe;
}

function codeOf(issue: Issue): string {
  switch (issue.code) {
    case 'custom':
      return typeof issue.params?.['code'] === 'string' ? issue.params['code'] : 'invalid';
    case 'invalid_type':
      return issue.input === undefined ? 'required' : 'wrong_type';
    case 'too_small':
    case 'too_big':
      return 'out_of_range';
    case 'invalid_value':
      return 'not_allowed';
    default:
      return 'invalid';
  }
}

function messageOf(issue: Issue, field: string): string {
  switch (issue.code) {
    case 'custom':
      return `${field} ${issue.message}`;
    case 'invalid_type':
      return issue.input === undefined ? `${field} is required.` : `${field} must be ${article(issue.expected)}.`;
    case 'too_small':
      return `${field} ${bound(issue.origin, `at least ${issue.minimum}`)}.`;
    case 'too_big':
      return `${field} ${bound(issue.origin, `at most ${issue.maximum}`)}.`;
    case 'invalid_value':
      return `${field} must be one of: ${issue.values.map(String).join(', ')}.`;
    default:
      return `${field} is not valid.`;
  }
}

function bound(origin: string, limit: string): string {
  if (origin === 'string') return `must have ${limit} characters`;
  if (origin === 'array') return `must have ${limit} items`;
  return `must be ${limit}`;
}

function article(expected: string): string {
  if (expected === 'record') return 'an object';
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
}
