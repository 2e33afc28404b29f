// Card setups made of nothing, as fixture-checkout.ts does it for checkouts. The token is the state's name.
import type { CardSetupPages, CardSetupView, SaveResult } from '../../../pages/deps.ts';

export const setupView: CardSetupView = {
  sessionId: 'css_01kaf4w2m6v3n8q5r7t9x1y2z3',
  token: 'open',
  mode: 'test',
  phase: 'open',
  merchant: { name: 'Blue Mountain Roasters', logoUrl: null, primaryColor: null },
  successUrl: 'https://shop.example/saved?from=account',
  failureUrl: 'https://shop.example/not-saved',
  cancelUrl: 'https://shop.example/account',
  customerName: null,
  card: null,
  testCards: true,
};

/** Changes to `setupView` by the token that shows them. */
export const setupStates: Readonly<Record<string, Partial<CardSetupView>>> = {
  open: {},
  live: { mode: 'live', testCards: false, cancelUrl: null, customerName: 'Marcia Griffiths', merchant: { name: 'Océane', logoUrl: null, primaryColor: '#ffd400' } },
  completed: { phase: 'completed', card: { brand: 'visa', last4: '4242' } },
  failed: { phase: 'failed' },
  expired: { phase: 'expired' },
  cancelled: { phase: 'cancelled' },
};

export interface FixtureSetup extends CardSetupPages {
  /** The last digits of the cards to be saved, in order. */
  readonly saved: string[];
  /** Answers to the next cards; afterwards they are saved. */
  readonly results: SaveResult[];
}

export function fixtureSetup(): FixtureSetup {
  const fixture: FixtureSetup = {
    saved: [],
    results: [],
    async openSetup(token) {
      const change = Object.hasOwn(setupStates, token) ? setupStates[token] : undefined;
      return change === undefined ? null : { ...setupView, token, ...change };
    },
    async saveCard(_, card) {
      fixture.saved.push(card.last4);
      return fixture.results.shift() ?? { kind: 'over', status: 'completed' };
    },
    cancelSetup: async () => 'cancelled',
  };
  return fixture;
}
