// Saves a card: what may be saved is decided first, the gateway then takes the card (the caller's business, outside any
// transaction), and customer and token are written together. The same card of a customer at a gateway is one active token.
// Specification: POST /tokenize.
import type { Knex } from 'knex';
import { type FieldError, validationError } from '../domain/errors.ts';
import type { Scope } from '../domain/mode.ts';
import { findCustomerIdByExternalId, insertCustomer } from '../models/customer.ts';
import { connectedGateways } from '../models/gateway-account.ts';
import { type ChargedCard, findChargedCard, insertToken, lockActiveToken, type NewToken, readTokenizePreconditions, renewToken, type TokenRow } from '../models/payment-token.ts';
import { seal, unseal } from '../platform/seal.ts';
import type { OperationDeps } from './deps.ts';
import { usableGateway } from './usable-gateway.ts';

export interface TokenizeInput {
  /** null: the card comes with the request. */
  readonly paymentId: string | null;
  readonly customerId: string | null;
  readonly externalCustomerId: string | null;
  readonly gateway: string | null;
  readonly holderName: string | null;
}

/** Whose card it will be, and where. */
export interface TokenizePlan {
  readonly gateway: string;
  readonly customerId: string | null;
  readonly externalCustomerId: string | null;
  /** For a customer that has to be made. */
  readonly payer: ChargedCard['payer'];
  /** The card of the payment, its reference in clear: it is sealed anew for the token. */
  readonly card: KeptCard | null;
}

/** A card the gateway keeps. `reference` is as good as a secret. */
export interface KeptCard extends Pick<NewToken, 'brand' | 'last4' | 'expiryMonth' | 'expiryYear' | 'fingerprint'> {
  readonly reference: string;
}

/** @throws DomainError gateway_not_found, customer_not_found, token_gateway_mismatch, direct_card_not_allowed, validation_failed */
export async function planToken(deps: OperationDeps, scope: Scope, input: TokenizeInput): Promise<TokenizePlan> {
  const [known, connected, charged] = await Promise.all([
    readTokenizePreconditions(deps.db, scope, input.customerId),
    connectedGateways(deps.db, scope),
    input.paymentId === null ? null : findChargedCard(deps.db, scope, input.paymentId),
  ]);
  const gateway = charged?.gateway ?? input.gateway ?? known.defaultGateway;
  const errors: FieldError[] = [];
  const add = (path: string, code: string, message: string): void => void errors.push({ path, code, message });
  if (input.paymentId !== null && charged === null) {
    add('payment_id', 'payment_not_found', 'There is no such payment with an approved card.');
  } else if (input.gateway !== null && input.gateway !== gateway) {
    add('gateway', 'token_gateway_mismatch', `The card of this payment is kept by the gateway ${gateway}.`);
  } else if (charged === null && usableGateway(deps.gateways, gateway, scope.mode, connected) === null) {
    add('gateway', 'gateway_not_found', `There is no gateway "${gateway}" for this merchant in ${scope.mode} mode.`);
  }
  if (input.customerId !== null && !known.customerIsKnown) add('customer_id', 'customer_not_found', 'There is no such customer.');
  if (input.paymentId === null && scope.mode === 'live' && !known.directCardLive) {
    add('card', 'direct_card_not_allowed', 'This merchant may not send card data itself in live mode: use a hosted page.');
  }
  if (errors.length > 0) throw validationError(errors);
  const isOwnerGiven = input.customerId !== null || input.externalCustomerId !== null;
  return {
    gateway,
    customerId: isOwnerGiven ? input.customerId : (charged?.customerId ?? null),
    externalCustomerId: input.externalCustomerId,
    payer: charged?.payer ?? { name: input.holderName, email: null, phone: null },
    card: charged === null ? null : { ...charged, reference: unseal(deps.keyRing, 'gateway-token', charged.sealedFor, charged.sealedReference) },
  };
}

/** A card deactivated between the two looks is looked for again; more often is a fault. */
const maxRaces = 3;

/**
 * Writes the token, and its customer where one has to be made.
 * @returns `isNew` false when the customer has this card already; a new expiry date is taken over then
 */
export async function writeToken(deps: OperationDeps, trx: Knex.Transaction, scope: Scope, plan: TokenizePlan, kept: KeptCard): Promise<{ token: TokenRow; isNew: boolean }> {
  const customerId = plan.customerId ?? (await findOrMakeCustomer(deps, trx, scope, plan));
  const { reference, brand, last4, expiryMonth, expiryYear, fingerprint } = kept;
  const card = { customerId, gateway: plan.gateway, brand, last4, expiryMonth, expiryYear, fingerprint };
  for (let race = 0; race < maxRaces; race++) {
    const id = deps.newId('token');
    const made = await insertToken(trx, scope, { ...card, id, sealedReference: seal(deps.keyRing, 'gateway-token', id, reference) });
    if (made !== null) return { token: made, isNew: true };
    const token = await lockActiveToken(trx, scope, card);
    if (token === null) continue;
    if (token.expiryMonth === expiryMonth && token.expiryYear === expiryYear) return { token, isNew: false };
    await renewToken(trx, token.id, { expiryMonth, expiryYear, sealedReference: seal(deps.keyRing, 'gateway-token', token.id, reference) });
    return { token: { ...token, expiryMonth, expiryYear }, isNew: false };
  }
  throw new Error('the token of a card kept changing');
}

async function findOrMakeCustomer(deps: OperationDeps, trx: Knex.Transaction, scope: Scope, plan: TokenizePlan): Promise<string> {
  const { externalCustomerId, payer } = plan;
  const find = async (): Promise<string | null> => (externalCustomerId === null ? null : findCustomerIdByExternalId(trx, scope, externalCustomerId));
  const known = await find();
  if (known !== null) return known;
  const id = deps.newId('customer');
  if (await insertCustomer(trx, scope, { ...payer, id, externalCustomerId, metadata: {} })) return id;
  // Somebody else was first, and has committed by now.
  const theirs = await find();
  if (theirs === null) throw new Error('the customer that was in the way is gone');
  return theirs;
}
