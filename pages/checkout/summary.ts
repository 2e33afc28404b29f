// The arithmetic of the order summary. Line items, subtotal and tax are display data that may disagree with the amount
// charged; the difference is shown as "Other", so that the column always adds up to the total.
import type { CheckoutView } from '../deps.ts';

export interface Summary {
  /** null when it would only repeat the total. */
  readonly subtotalMinor: number | null;
  readonly taxMinor: number | null;
  /** Signed; null when everything adds up. */
  readonly otherMinor: number | null;
}

export function summarise(view: Pick<CheckoutView, 'amountMinor' | 'lineItems' | 'subtotalMinor' | 'taxAmountMinor'>): Summary {
  const itemised = view.lineItems.length > 0 || view.subtotalMinor !== null || view.taxAmountMinor !== null;
  if (!itemised) return { subtotalMinor: null, taxMinor: null, otherMinor: null };
  const items = view.lineItems.reduce((sum, line) => sum + line.quantity * line.unitAmountMinor, 0);
  const taxMinor = view.taxAmountMinor ?? taxOfLines(view);
  const subtotalMinor = view.subtotalMinor ?? (view.lineItems.length > 0 ? items : view.amountMinor - (taxMinor ?? 0));
  const otherMinor = view.amountMinor - subtotalMinor - (taxMinor ?? 0);
  const repeats = subtotalMinor === view.amountMinor && taxMinor === null;
  return { subtotalMinor: repeats ? null : subtotalMinor, taxMinor, otherMinor: otherMinor === 0 ? null : otherMinor };
}

/** The lines' own taxes, when the session names no tax in all. */
function taxOfLines(view: Pick<CheckoutView, 'lineItems'>): number | null {
  const taxes = view.lineItems.map((line) => line.taxAmountMinor).filter((tax) => tax !== null);
  return taxes.length === 0 ? null : taxes.reduce((sum, tax) => sum + tax, 0);
}
