// Which redirect addresses a request may name: with a live key only https addresses of registered hosts. Their form was
// checked with the request. Specification: Authentication, 4.
import { DomainError, type FieldError, validationError } from '../domain/errors.ts';
import type { Mode } from '../domain/mode.ts';
import { hostOf } from '../domain/redirect-url.ts';

/** A field's path and its address. */
export type Redirect = readonly [string, string];

export function redirectsOf(fields: Readonly<Record<string, string | null>>): Redirect[] {
  return Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== null);
}

export function refuseUnregistered(mode: Mode, redirects: readonly Redirect[], registeredHosts: readonly string[]): FieldError[] {
  if (mode !== 'live') return [];
  return redirects.flatMap(([path, url]) => {
    const code = 'redirect_host_not_registered';
    if (!registeredHosts.includes(hostOf(url))) return [{ path, code, message: `${hostOf(url)} is not registered as a redirect domain; register it with POST /domains.` }];
    if (new URL(url).protocol !== 'https:') return [{ path, code, message: 'With a live key redirects go to https addresses of registered domains only.' }];
    return [];
  });
}

/** Several unregistered hosts are one mistake, not several. @throws DomainError when anything was found */
export function throwFound(errors: readonly FieldError[]): void {
  const [first] = errors;
  if (first === undefined) return;
  if (errors.every((error) => error.code === first.code)) throw new DomainError(first.code as 'gateway_not_found', first.message, { param: first.path, errors });
  throw validationError(errors);
}
