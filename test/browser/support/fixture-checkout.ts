// Checkouts made of nothing: one view per state behind the pages' own port, so that a page can be looked at without
// Postgres, Temporal or a gateway. The token is the state's name.
import type { CheckoutDoor, CheckoutView, PayResult, Payer, PaymentCard } from '../../../pages/deps.ts';

export const fixtureView: CheckoutView = {
  sessionId: 'cs_01kaf4w2m6v3n8q5r7t9x1y2z3',
  token: 'payable',
  mode: 'test',
  status: 'open',
  phase: 'payable',
  actionUrl: null,
  merchant: { name: 'Blue Mountain Roasters', logoUrl: null, primaryColor: null },
  amountMinor: 6_670,
  currency: 'USD',
  description: null,
  lineItems: [
    { name: 'Single estate beans, 1 kg', description: 'Whole bean, roasted to order', quantity: 2, unitAmountMinor: 2_400, imageUrl: null, taxAmountMinor: null },
    { name: 'Ceramic dripper', description: null, quantity: 1, unitAmountMinor: 1_000, imageUrl: null, taxAmountMinor: null },
  ],
  subtotalMinor: 5_800,
  taxName: 'GCT',
  taxRate: 0.15,
  taxAmountMinor: 870,
  successUrl: 'https://shop.example/thanks?order=7',
  failureUrl: 'https://shop.example/declined',
  cancelUrl: 'https://shop.example/cart',
  customer: null,
  savedCards: [],
  savePaymentMethod: true,
  locale: null,
  expiresAt: new Date('2030-01-01T00:00:00Z'),
  receiptNumber: null,
  card: null,
  failure: null,
  testCards: true,
};

/** Changes to `fixtureView` by the token that shows them. */
export const fixtureStates: Readonly<Record<string, Partial<CheckoutView>>> = {
  payable: {},
  live: { mode: 'live', testCards: false, cancelUrl: null, savePaymentMethod: false },
  bare: { lineItems: [], subtotalMinor: null, taxName: null, taxRate: null, taxAmountMinor: null, description: 'Invoice 2031, spring campaign', amountMinor: 125_000, currency: 'JMD' },
  saved: {
    customer: { name: 'Marcia Griffiths', email: 'marcia@example.com' },
    savedCards: [
      { id: 'pt_01kaf4w2m6v3n8q5r7t9x1y2z3', brand: 'visa', last4: '4242', expiryMonth: 12, expiryYear: 2029 },
      { id: 'pt_01kaf4w2m6v3n8q5r7t9x1y2z4', brand: 'amex', last4: '0005', expiryMonth: 4, expiryYear: 2028 },
    ],
  },
  many: {
    amountMinor: 1_234_567,
    currency: 'KWD',
    lineItems: Array.from({ length: 100 }, (_, i) => ({
      name: i === 0 ? 'Donaudampfschifffahrtsgesellschaftskapitänsmützenständer in extra large' : `Item number ${i + 1}`,
      description: i % 3 === 0 ? 'With a rather long description that needs more than one line on any telephone' : null,
      quantity: i + 1,
      unitAmountMinor: 150,
      imageUrl: i % 2 === 0 ? `https://images.example/${i}.png` : null,
      taxAmountMinor: null,
    })),
    subtotalMinor: null,
    taxAmountMinor: null,
  },
  branded: { merchant: { name: 'Océane', logoUrl: null, primaryColor: '#ffd400' } },
  arabic: { locale: 'ar', merchant: { name: 'متجر النيل', logoUrl: null, primaryColor: null } },
  spanish: { locale: 'es-MX' },
  french: { locale: 'fr' },
  processing: { phase: 'processing' },
  requires_action: { phase: 'requires_action', actionUrl: 'https://bank.example/challenge' },
  completed: { phase: 'completed', status: 'completed', receiptNumber: 'R-2031-8842-1107', card: { brand: 'visa', last4: '4242' } },
  failed: { phase: 'failed', status: 'failed', failure: { declineCode: 'insufficient_funds' } },
  stolen: { phase: 'failed', status: 'failed', failure: { declineCode: 'stolen_card' } },
  expired: { phase: 'expired', status: 'expired' },
  cancelled: { phase: 'cancelled', status: 'cancelled' },
};

export interface FixtureDoor extends CheckoutDoor {
  /** What was asked to be paid, in order. */
  readonly payments: { token: string; last4: string | null; savedTokenId: string | null; payer: Payer }[];
  /** Answers to the next payments; afterwards a redirect to the success address. */
  readonly results: PayResult[];
  /** Views that replace the fixture's, by token. */
  readonly views: Map<string, CheckoutView>;
}

export function fixtureDoor(): FixtureDoor {
  const views = new Map<string, CheckoutView>();
  const find = (token: string): CheckoutView | null => {
    const change = Object.hasOwn(fixtureStates, token) ? fixtureStates[token] : undefined;
    return views.get(token) ?? (change === undefined ? null : { ...fixtureView, token, ...change });
  };
  const door: FixtureDoor = {
    payments: [],
    results: [],
    views,
    openCheckout: (token) => Promise.resolve(find(token)),
    requestPayment(view, card: PaymentCard, payer) {
      const saved = 'savedTokenId' in card;
      door.payments.push({ token: view.token, last4: saved ? null : card.last4, savedTokenId: saved ? card.savedTokenId : null, payer });
      return Promise.resolve(door.results.shift() ?? { kind: 'redirect', to: `${view.successUrl}&session_id=${view.sessionId}` });
    },
    returnFromBank: () => Promise.resolve({ kind: 'processing' }),
    cancelCheckout: (token) => Promise.resolve({ kind: 'redirect', to: `${find(token)?.cancelUrl}?session_id=${fixtureView.sessionId}` }),
  };
  return door;
}
