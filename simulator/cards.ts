// Keeping cards: the number comes in, what the card does and its last four stay. The number is dropped here.
import { Pan, passesLuhn, testCards } from '../domain/card.ts';
import type { CardBehaviour } from '../domain/card.ts';
import { randomId } from './keys.ts';
import type { Keys } from './keys.ts';
import type { Ledger } from './ledger.ts';
import { invalid } from './refusal.ts';
import type { Fields } from './refusal.ts';
import type { CardRow, GatewaySlug } from './rows.ts';

const behaviours: ReadonlyMap<string, CardBehaviour> = new Map(testCards.map((card) => [card.number, card.behaviour]));

/**
 * @param fields number, expiry_month (1-12), expiry_year (four digits), cvc; `save: true` for a card saved without a
 * charge, which uses up the "saves" of the cards that decline afterwards. @throws Refusal naming the bad field
 */
export function vaultCard(deps: { ledger: Ledger; keys: Keys }, gateway: GatewaySlug, fields: Fields, now: Date): CardRow {
  const pan = readPan(fields, now);
  const { number } = pan.reveal();
  const row: CardRow = {
    row: 'card',
    id: randomId('simcard_'),
    gateway,
    behaviour: behaviours.get(number) ?? 'approve',
    brand: pan.brand,
    last4: pan.last4,
    expiryMonth: pan.expiryMonth,
    expiryYear: pan.expiryYear,
    fingerprint: deps.keys.fingerprint(gateway, number),
    uses: fields.save === true ? 1 : 0,
    createdAt: now.toISOString(),
  };
  deps.ledger.write(row);
  return row;
}

function readPan(fields: Fields, now: Date): Pan {
  const { number, cvc, expiry_month: month, expiry_year: year } = fields;
  if (typeof number !== 'string' || !passesLuhn(number)) throw invalid('number', 'the card number is not valid');
  if (typeof month !== 'number' || typeof year !== 'number' || !Number.isInteger(month) || !Number.isInteger(year) || month < 1 || month > 12) {
    throw invalid('expiry', 'the expiry date is not valid');
  }
  // A card is good to the end of its month, everywhere on earth.
  if (year > 9999 || Date.UTC(year, month, 1, 12) <= now.getTime()) throw invalid('expiry', 'the card has expired');
  if (typeof cvc !== 'string' || !/^\d{3,4}$/.test(cvc)) throw invalid('cvc', 'the security code is not valid');
  return new Pan({ number, cvc, expiryMonth: month, expiryYear: year });
}
