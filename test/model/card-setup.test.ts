// A card setup's page over a vault that refuses: how many cards it allows, and who wins when several things end it at once.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Pan } from '../../domain/card.ts';
import { maxRejectedCards } from '../../domain/card-setup.ts';
import { makeId } from '../../domain/id.ts';
import { CardRejected, type CardVault, VaultUnavailable } from '../../gateways/vault.ts';
import { type Database, openDatabase } from '../../models/database.ts';
import { createCardSetup } from '../../operations/create-card-setup.ts';
import { createMerchant } from '../../operations/create-merchant.ts';
import type { OperationDeps } from '../../operations/deps.ts';
import { endCardSetup } from '../../operations/end-card-setup.ts';
import { createCardSetupPages } from '../../pages/setup/card-setup-door.ts';
import type { CardSetupPages, CardSetupView } from '../../pages/deps.ts';
import { createKeyRing } from '../../platform/key-ring.ts';
import { ulid } from '../../platform/ulid.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;
let operations: OperationDeps;
let pages: CardSetupPages;
let answer: CardVault['keep'];
let codes: string[];
beforeAll(async () => {
  database = await createDatabase();
  db = openDatabase({ url: database.url, poolSize: 10, statementTimeoutMs: 15_000, onConnectionError: () => undefined });
  const simulator = { slug: 'simulator', name: 'Simulator', currencies: 'all' } as const;
  operations = {
    db,
    keyRing: createKeyRing(['0123456789abcdef0123456789abcdef']),
    newId: (kind) => makeId(kind, ulid),
    publicUrl: 'http://checkout.test',
    offerDeliveries: () => undefined,
    gateways: { find: () => simulator, nameOf: () => 'Simulator' },
    checkTarget: async (url) => url,
  };
  pages = createCardSetupPages({ operations, vault: { keep: (...args) => answer(...args) }, recordVault: (call) => void codes.push(call.code) });
});
beforeEach(() => {
  codes = [];
  answer = keeps;
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const card = (number = '4242424242424242') => new Pan({ number, cvc: '123', expiryMonth: 12, expiryYear: 2040, holderName: 'Ada' });
const keeps: CardVault['keep'] = async (_, { brand, last4, expiryMonth, expiryYear }) => ({ reference: `kept_${last4}`, brand, last4, expiryMonth, expiryYear, fingerprint: `print_${last4}` });
const rejects: CardVault['keep'] = async () => {
  throw new CardRejected('number', 'The card number is not valid.');
};

async function openSetup(): Promise<CardSetupView> {
  const { merchantId } = await createMerchant(operations, { name: 'Demo' });
  const customerId = operations.newId('customer');
  await database.query(`insert into customers (id, merchant_id, mode) values ($1, $2, 'test')`, [customerId, merchantId]);
  const input = { customerId, successUrl: 'https://shop.test/a', failureUrl: 'https://shop.test/b', cancelUrl: 'https://shop.test/c', subscriptionId: null };
  const { answer: made } = await createCardSetup(operations, { merchantId, mode: 'test', now: new Date() }, input, null);
  const url = (JSON.parse(made.body) as { setup_url: string }).setup_url;
  const view = await pages.openSetup(url.slice(url.lastIndexOf('/') + 1));
  expect(view?.phase).toBe('open');
  return view!;
}
const rowOf = async (view: CardSetupView) => (await database.query<{ status: string; token_id: string | null; rejected_cards: number }>('select status, token_id, rejected_cards from card_setup_sessions where id = $1', [view.sessionId]))[0]!;

it('tells each refused card at its field and closes after the last one allowed', async () => {
  const view = await openSetup();
  answer = rejects;
  for (let n = 1; n < maxRejectedCards; n++) {
    expect(await pages.saveCard(view, card())).toEqual({ kind: 'card_rejected', field: 'number', message: 'The card number is not valid.' });
    expect(await rowOf(view)).toMatchObject({ status: 'open', rejected_cards: n });
  }
  expect(await pages.saveCard(view, card())).toEqual({ kind: 'over', status: 'failed' });
  answer = keeps;
  expect(await pages.saveCard(view, card())).toEqual({ kind: 'over', status: 'failed' });
  expect(await rowOf(view)).toEqual({ status: 'failed', token_id: null, rejected_cards: maxRejectedCards });
  expect(codes).toEqual(Array.from({ length: maxRejectedCards }, () => 'rejected'));
});

it('does not count a gateway that was not reached', async () => {
  const view = await openSetup();
  answer = async () => {
    throw new VaultUnavailable('nobody answered');
  };
  expect(await pages.saveCard(view, card())).toEqual({ kind: 'try_again' });
  expect(await rowOf(view)).toMatchObject({ status: 'open', rejected_cards: 0 });
  expect(codes).toEqual(['unavailable']);
});

it('ends one way only when saving, cancelling and expiring meet', async () => {
  for (let round = 0; round < 10; round++) {
    const view = await openSetup();
    const [saved, cancelled] = await Promise.all([pages.saveCard(view, card()), pages.cancelSetup(view), endCardSetup(operations, view.sessionId, 'expired')]);
    const { status, token_id } = await rowOf(view);
    expect(['completed', 'cancelled']).toContain(status);
    expect(saved).toEqual({ kind: 'over', status });
    expect(cancelled).toBe(status);
    expect(token_id !== null).toBe(status === 'completed');
    expect(await database.query('select k.id from payment_tokens k join card_setup_sessions s on s.customer_id = k.customer_id where s.id = $1', [view.sessionId])).toHaveLength(token_id === null ? 0 : 1);
  }
});

it('saves nothing when its time comes while the gateway still keeps the card', async () => {
  const view = await openSetup();
  answer = async (...args) => {
    await database.query('update card_setup_sessions set expires_at = now() where id = $1', [view.sessionId]);
    return keeps(...args);
  };
  expect(await pages.saveCard(view, card())).toEqual({ kind: 'over', status: 'expired' });
  expect(await rowOf(view)).toMatchObject({ status: 'open', token_id: null });
  expect(await endCardSetup(operations, view.sessionId, 'cancelled')).toMatchObject({ state: 'open' });
  expect(await endCardSetup(operations, view.sessionId, 'expired')).toEqual({ state: 'over', status: 'expired' });
});

it('keeps the gateway\'s reference sealed to the token', async () => {
  const view = await openSetup();
  await pages.saveCard(view, card());
  const [row] = await database.query<{ all: string }>('select k::text || s::text as all from payment_tokens k join card_setup_sessions s on s.token_id = k.id where s.id = $1', [view.sessionId]);
  expect(row?.all).not.toContain('kept_4242');
  expect(row?.all).not.toContain('4242424242424242');
});
