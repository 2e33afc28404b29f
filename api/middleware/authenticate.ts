// Bearer key in, admitted caller out. Missing, malformed, unknown, revoked and expired keys are told apart by nobody.
// Specification: Authentication, Limits.
import type { Context } from 'koa';
import { DomainError } from '../../domain/errors.ts';
import type { RateTier } from '../../domain/rate-tier.ts';
import type { Admission, AdmittedKey } from '../admission.ts';
import type { ClientAddresses } from './client-address.ts';
import { RateLimited } from './errors.ts';
import { setRateLimit } from './headers.ts';

/** Any length a key of ours could have: whether one is valid only its hash tells. */
const keyForm = /^Bearer +(svc_(?:test|live)_[0-9A-Za-z]{20,100})$/i;

/**
 * Counts the call in its tier and sets the rate limit headers.
 * @throws DomainError invalid_api_key; RateLimited
 */
export async function authenticate(ctx: Context, admission: Admission, addresses: ClientAddresses, tier: RateTier): Promise<AdmittedKey> {
  const token = keyForm.exec(ctx.req.headers.authorization ?? '')?.[1];
  const caller = token === undefined ? null : await admission.key(token, tier);
  if (caller === null) {
    const stranger = await admission.address(addresses.of(ctx.req), 'unauthenticated');
    if (!stranger.allowed) throw new RateLimited(stranger.retryAfter);
    throw new DomainError('invalid_api_key', 'Send a valid API key in the header "Authorization: Bearer svc_test_…" (or svc_live_…).');
  }
  setRateLimit(ctx, caller);
  if (!caller.allowed) throw new RateLimited(caller.retryAfter);
  return caller;
}
