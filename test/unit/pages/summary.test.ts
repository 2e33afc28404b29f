import { expect, it } from 'vitest';
import type { CheckoutLine } from '../../../pages/deps.ts';
import { summarise } from '../../../pages/checkout/summary.ts';

const line = (unitAmountMinor: number, quantity = 1, taxAmountMinor: number | null = null): CheckoutLine => ({
  name: 'Thing', description: null, quantity, unitAmountMinor, imageUrl: null, taxAmountMinor,
});
const order = (changes: Partial<Parameters<typeof summarise>[0]>) => summarise({ amountMinor: 1_150, lineItems: [], subtotalMinor: null, taxAmountMinor: null, ...changes });

it('says nothing more than the total when nothing is itemised', () => {
  expect(order({})).toEqual({ subtotalMinor: null, taxMinor: null, otherMinor: null });
  expect(order({ lineItems: [line(1_150)] })).toEqual({ subtotalMinor: null, taxMinor: null, otherMinor: null });
});

it('adds lines and tax up to the amount', () => {
  expect(order({ lineItems: [line(500, 2)], taxAmountMinor: 150 })).toEqual({ subtotalMinor: 1_000, taxMinor: 150, otherMinor: null });
  expect(order({ lineItems: [line(500, 2, 150)] })).toEqual({ subtotalMinor: 1_000, taxMinor: 150, otherMinor: null });
  expect(order({ taxAmountMinor: 150 })).toEqual({ subtotalMinor: 1_000, taxMinor: 150, otherMinor: null });
});

it('shows what does not add up as Other, in both directions', () => {
  expect(order({ lineItems: [line(900)] })).toEqual({ subtotalMinor: 900, taxMinor: null, otherMinor: 250 });
  expect(order({ lineItems: [line(2_000)], subtotalMinor: 2_000 })).toEqual({ subtotalMinor: 2_000, taxMinor: null, otherMinor: -850 });
});
