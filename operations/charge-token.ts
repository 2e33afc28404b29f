// Charges a saved card. Specification: Payments and tokens.
import { randomBytes } from 'node:crypto';
import { DomainError, type FieldError } from '../domain/errors.ts';
import { makeReceiptNumber } from '../domain/receipt-number.ts';
import { hostOf } from '../domain/redirect-url.ts';
import type { ReservedOperation } from '../models/begin-claim.ts';
import { beginDirectCharge, type ChargePreconditions, readChargePreconditions } from '../models/direct-charge.ts';
import { beginClaim, carryOut, type MoneyDeps, type MoneyRequest } from './carry-out.ts';
import type { Answer } from './deps.ts';
import { type IdempotencyClaim, IdempotencyRace } from './idempotency.ts';
import { type Redirect, redirectsOf, refuseUnregistered, throwFound } from './redirect-hosts.ts';
import { usableGateway } from './usable-gateway.ts';

/** A validated request; amounts in minor units. */
export interface ChargeTokenInput {
  readonly tokenId: string;
  /** The field the token came in, for errors. */
  readonly tokenField: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly capture: boolean;
  readonly description: string | null;
  readonly orderId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly gateway: string | null;
  /** When given, the token must be this customer's. */
  readonly customerId: string | null;
  readonly successUrl: string | null;
  readonly failureUrl: string | null;
}

/**
 * @returns 201 with the record, 402 for a decline or a demand for authentication, 202 while the outcome is not known, 502
 * @throws DomainError token_not_found, token_inactive, token_gateway_mismatch, currency_not_supported, redirect_host_not_registered
 */
export function chargeToken(deps: MoneyDeps, request: MoneyRequest, input: ChargeTokenInput, claim: IdempotencyClaim | null): Promise<Answer> {
  return carryOut(deps, request, claim, async () => {
    const redirects = redirectsOf({ success_url: input.successUrl, failure_url: input.failureUrl });
    const known = await readChargePreconditions(deps.db, request, input.tokenId, redirects.map(([, url]) => hostOf(url)));
    check(deps, request, input, known, redirects);
    const reserved: ReservedOperation = { kind: 'charge', operationId: deps.newId('attempt'), transactionId: deps.newId('transaction'), requestId: request.requestId };
    const begun = await beginDirectCharge(
      deps.db,
      request,
      {
        transactionId: reserved.transactionId,
        attemptId: reserved.operationId,
        amountMinor: input.amountMinor,
        currency: input.currency,
        capture: input.capture,
        description: input.description,
        orderId: input.orderId,
        metadata: input.metadata,
        receiptNumber: makeReceiptNumber(request.now, randomBytes(5)),
        tokenId: input.tokenId,
        successUrl: input.successUrl,
        failureUrl: input.failureUrl,
      },
      beginClaim(claim, reserved),
      request.now,
    );
    if (begun === 'taken') throw new IdempotencyRace();
    if (begun === 'inactive') throw inactive(input);
    const { merchantId, mode } = request;
    return { reserved, payment: { id: reserved.transactionId, merchantId, merchantName: known.merchantName, mode, amount: input.amountMinor, currency: input.currency } };
  });
}

function inactive(input: ChargeTokenInput): DomainError {
  return new DomainError('token_inactive', 'This saved card was deactivated; ask the customer for another one.', { param: input.tokenField });
}

function check(deps: MoneyDeps, request: MoneyRequest, input: ChargeTokenInput, known: ChargePreconditions, redirects: readonly Redirect[]): void {
  const errors: FieldError[] = [];
  const add = (path: string, code: string, message: string): void => void errors.push({ path, code, message });
  const { token } = known;
  if (token === null || (input.customerId !== null && token.customerId !== input.customerId)) add(input.tokenField, 'token_not_found', 'There is no such saved card.');
  else if (token.status !== 'active') throw inactive(input);
  else if (input.gateway !== null && input.gateway !== token.gateway) {
    add('gateway', 'token_gateway_mismatch', `This card was saved at the gateway ${token.gateway} and can only be charged there.`);
  }
  const gateway = token === null ? null : usableGateway(deps.gateways, token.gateway, request.mode, known.connectedGateways);
  if (token !== null && gateway === null) add('gateway', 'gateway_not_found', `The gateway ${token.gateway} cannot be used by this merchant in ${request.mode} mode.`);
  if (!known.currencies.includes(input.currency)) {
    add('currency', 'currency_not_supported', `${input.currency} is not enabled for this merchant; enabled: ${known.currencies.join(', ')}.`);
  } else if (gateway !== null && gateway.currencies !== 'all' && !gateway.currencies.includes(input.currency)) {
    add('currency', 'currency_not_supported', `${input.currency} cannot be charged by the gateway ${gateway.slug}.`);
  }
  throwFound([...errors, ...refuseUnregistered(request.mode, redirects, known.registeredHosts)]);
}
