// How card brands are written for people.
const names: Readonly<Record<string, string>> = {
  visa: 'Visa',
  mastercard: 'Mastercard',
  amex: 'American Express',
  discover: 'Discover',
  diners: 'Diners Club',
  jcb: 'JCB',
  unionpay: 'UnionPay',
  maestro: 'Maestro',
};

/** A brand nobody here knows is just "Card". */
export function brandName(brand: string): string {
  return names[brand] ?? 'Card';
}
