// Public ids: a prefix that says what it is, and a ULID in lower case. Randomness is an argument.
export const idPrefixes = {
  session: 'cs',
  transaction: 'txn',
  refund: 'rf',
  subscription: 'sub',
  customer: 'cus',
  token: 'pt',
  paymentLink: 'pl',
  event: 'evt',
  delivery: 'dlv',
  endpoint: 'we',
  automationHook: 'whe_zap',
  testClock: 'clk',
  merchant: 'mer',
  key: 'key',
  request: 'req',
  attempt: 'att',
  operation: 'op',
  cardSetup: 'css',
  gatewayAccount: 'gwa',
} as const;
export type IdKind = keyof typeof idPrefixes;

/** `ulid` gives 26 characters of Crockford base 32. */
export function makeId(kind: IdKind, ulid: () => string): string {
  return `${idPrefixes[kind]}_${ulid().toLowerCase()}`;
}

const ulidText = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Whether a text has the form of an id of this kind; says nothing about whether it exists. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = `${idPrefixes[kind]}_`;
  return text.startsWith(prefix) && ulidText.test(text.slice(prefix.length));
}
