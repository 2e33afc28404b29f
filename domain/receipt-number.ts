// Human-readable receipt references. Made at reservation from the date and randomness, not from a shared counter: a counter
// would serialise a merchant's payments and tell competitors their number.

const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';

/** `R-YYMMDD-XXXXXXXX`: UTC date and 40 random bits without look-alike characters. @param random five bytes or more */
export function makeReceiptNumber(now: Date, random: Uint8Array): string {
  const date = now.toISOString().slice(2, 10).replaceAll('-', '');
  const bits = random.slice(0, 5).reduce((all, byte) => (all << 8n) | BigInt(byte), 0n);
  let text = '';
  for (let i = 7; i >= 0; i--) text += alphabet[Number((bits >> BigInt(i * 5)) & 31n)];
  return `R-${date}-${text}`;
}
