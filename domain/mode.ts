// Test and live: two worlds that share nothing but code. The mode comes from the key's prefix and from nowhere else.
export const modes = ['test', 'live'] as const;
export type Mode = (typeof modes)[number];

/** The owner of every row: a merchant in one mode. Every query is scoped by it. */
export interface Scope {
  readonly merchantId: string;
  readonly mode: Mode;
}
