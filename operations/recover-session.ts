// A new session that copies one that failed, expired or was cancelled. Terminal states stay terminal (ADR 0003).
import { visibleStatus, expiresInMinutes } from '../domain/checkout-session.ts';
import { DomainError } from '../domain/errors.ts';
import { findSession } from '../models/checkout-session.ts';
import { type CreatedSession, createSession } from './create-session.ts';
import type { OperationDeps, RequestScope } from './deps.ts';
import type { IdempotencyClaim } from './idempotency.ts';

/** What may differ from the copied session. */
export interface RecoverSessionInput {
  readonly successUrl?: string | undefined;
  readonly failureUrl?: string | undefined;
  readonly cancelUrl?: string | undefined;
  readonly expiresInMinutes?: number | undefined;
}

/** @throws DomainError not_found, session_not_open (still open or completed), and what `createSession` throws */
export async function recoverSession(
  deps: OperationDeps,
  request: RequestScope,
  sessionId: string,
  input: RecoverSessionInput,
  claim: IdempotencyClaim | null,
): Promise<CreatedSession> {
  const session = await findSession(deps.db, request, sessionId);
  if (session === null) throw new DomainError('not_found', 'There is no such checkout session.');
  const status = visibleStatus(session, session.readAt);
  if (status === 'open' || status === 'completed') {
    throw new DomainError('session_not_open', `Only a failed, expired or cancelled session can be recovered; this one is ${status}.`, { currentStatus: status });
  }
  return createSession(
    deps,
    request,
    {
      amountMinor: session.amount,
      currency: session.currency,
      successUrl: input.successUrl ?? session.successUrl,
      failureUrl: input.failureUrl ?? session.failureUrl,
      cancelUrl: input.cancelUrl ?? session.cancelUrl,
      description: session.description,
      customer: session.customer,
      customerId: session.customerId,
      lineItems: session.lineItems,
      subtotalMinor: session.subtotal,
      taxName: session.taxName,
      taxRate: session.taxRate,
      taxAmountMinor: session.taxAmount,
      metadata: session.metadata,
      gateway: session.gateway,
      expiresInMinutes: input.expiresInMinutes ?? expiresInMinutes.default,
      source: session.source,
      orderId: session.orderId,
      savePaymentMethod: session.savePaymentMethod,
      locale: session.locale,
      recoveredFrom: session.id,
      capture: session.capture,
      asked: 'session',
    },
    claim,
  );
}
