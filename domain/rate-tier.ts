// Rate limit tiers. Specification: Limits. The window rolls over 60 seconds per API key (or per address) and tier.
export const rateWindowMs = 60_000;
export const rateTiers = {
  'payment-mutations': 60,
  writes: 120,
  'public-reads': 300,
  /** Requests without a valid key, per address. */
  unauthenticated: 300,
  /** Forms and public JSON posts per address; the number is configurable (PUBLIC_POSTS_PER_MINUTE). */
  'public-posts': 60,
} as const;
export type RateTier = keyof typeof rateTiers;
