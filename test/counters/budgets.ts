// What the hot paths may cost, in units that do not jitter: these gate CI instead of time. Raising a number is a decision
// that belongs into the commit's reasons. Reliability goals: section 4.

/** SQL statements a request waits for, by the names of the prepared statements, in the order they are sent: one round trip each. */
export const statements = {
  get: ['admit-keys', 'find-session'],
  /** With an Idempotency-Key. */
  create: ['admit-keys', 'session-preconditions', 'create-session'],
  /** POST of the pay form, approved: the page, the two limits of its form at once, then the workflow's claim and settlement. */
  pay: ['read-checkout-page', 'admit-buckets', 'request-attempt', 'claim-attempt', 'settle-attempt'],
  getPayment: ['admit-keys', 'find-transaction'],
  // With an Idempotency-Key each: begun by the request, claimed and settled by its workflow, read and kept by the request.
  chargeToken: [
    'admit-keys',
    'charge-preconditions',
    'begin-direct-charge',
    'claim-direct-charge',
    'settle-direct-charge',
    'find-transaction',
    'keep-answer',
  ],
  refund: [
    'admit-keys',
    'begin-refund',
    'claim-refund',
    'settle-refund',
    'read-refund-context',
    'keep-answer',
  ],
  capture: [
    'admit-keys',
    'begin-payment-operation',
    'claim-payment-operation',
    'settle-payment-operation',
    'read-payment-operation',
    'find-transaction',
    'keep-answer',
  ],
  void: [
    'admit-keys',
    'begin-payment-operation',
    'claim-payment-operation',
    'settle-payment-operation',
    'read-payment-operation',
    'find-transaction',
    'keep-answer',
  ],
} as const satisfies Record<string, readonly string[]>;

/** Marks and logs written in batches off the request's path: their number follows time, not requests. */
export const batched = ['mark-sessions-started', 'insert-api-requests', 'insert-gateway-calls', 'keys-used'] as const;

export const history = {
  /** Events of a session that was paid, and of one that expired. */
  paid: { events: 20, bytes: 4_000 },
  expired: { events: 12, bytes: 3_000 },
};

export const bundle = {
  /** Bytes of the workflow bundle with its source map. The SDK alone is 1.6 MB. */
  bytes: 1_750_000,
};

export const page = {
  /** HTML, style sheet and script of the pay page as they travel, brotli. */
  bytes: 30_000,
};

/**
 * Buffers of 8 KB that a statement touches at 100,000 rows of each kind, those of its indexes included. About half as much
 * again as was seen, for pages that split: a scan of a table is thousands.
 */
export const buffers: Readonly<Record<string, number>> = {
  'admit-buckets': 15,
  'admit-keys': 15,
  'begin-direct-charge': 70,
  'begin-payment-operation': 55,
  'begin-refund': 55,
  'charge-preconditions': 20,
  'claim-attempt': 70,
  'claim-direct-charge': 50,
  'claim-payment-operation': 40,
  'claim-refund': 30,
  'create-session': 75,
  'find-session': 15,
  'find-transaction': 20,
  'read-checkout-page': 25,
  'read-payment-operation': 15,
  'read-refund-context': 20,
  // Seen between 6 and 15: a row that finds no room on its page has all its index entries made again.
  'keep-answer': 25,
  'request-attempt': 45,
  'session-preconditions': 10,
  'settle-attempt': 65,
  'settle-direct-charge': 70,
  'settle-payment-operation': 60,
  'settle-refund': 65,
};

/** The same of a listing's query, page and total together. Seen: 116, 112, 109, 12, 1551, 210, 16. */
export const listingBuffers: Readonly<Record<string, number>> = {
  '/transactions': 180,
  '/transactions?status=captured': 180,
  '/transactions?status=partially_refunded': 180,
  '/transactions?customer_id={customer}': 30,
  // From row 49,900 on: the index alone up to there.
  '/transactions?limit=100&page=500': 2_300,
  '/customers': 300,
  '/customers?external_customer_id={external}': 30,
};
