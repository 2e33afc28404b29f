// What the store sells. Prices are integers in the currency's smallest unit, like every amount of the payment service.

export interface Product {
  readonly sku: string;
  readonly name: string;
  readonly description: string;
  readonly priceMinor: number;
  readonly currency: string;
  /** Inside of a 96 by 96 drawing; `currentColor` follows the page's colours. */
  readonly drawing: string;
}

export const products: readonly Product[] = [
  {
    sku: 'coffee-250',
    name: 'Blue Mountain coffee',
    description: 'Whole beans, 250 g, roasted this week.',
    priceMinor: 2500,
    currency: 'USD',
    drawing: '<path d="M30 22h36l4 10v44a4 4 0 0 1-4 4H30a4 4 0 0 1-4-4V32z"/><path d="M26 32h44"/><ellipse cx="48" cy="56" rx="9" ry="12"/><path d="M48 44c-5 8 5 16 0 24"/>',
  },
  {
    sku: 'mug-enamel',
    name: 'Enamel mug',
    description: 'Survives camp fires and dishwashers.',
    priceMinor: 1400,
    currency: 'USD',
    drawing: '<path d="M26 34h38v34a8 8 0 0 1-8 8H34a8 8 0 0 1-8-8z"/><path d="M64 42h6a8 8 0 0 1 8 8v4a8 8 0 0 1-8 8h-6"/><path d="M38 18c-3 4 3 6 0 10M50 18c-3 4 3 6 0 10"/>',
  },
  {
    sku: 'dripper-set',
    name: 'Pour-over set',
    description: 'Dripper, carafe and forty paper filters.',
    priceMinor: 4800,
    currency: 'USD',
    drawing: '<path d="M30 18h36l-12 22H42z"/><path d="M36 40h24"/><path d="M40 46h16l10 26a4 4 0 0 1-4 6H34a4 4 0 0 1-4-6z"/><path d="M34 64h28"/>',
  },
];

export function findProduct(sku: string): Product | null {
  return products.find((product) => product.sku === sku) ?? null;
}
