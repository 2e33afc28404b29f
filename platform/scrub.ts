// Takes secrets out of text on its way to a log: by the name of the JSON field, and by form wherever they stand.
// The last guard, not the first: nothing should hand secrets to a logger at all.

const secretFields = new Set([
  'authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key', 'idempotency-key',
  'cvc', 'cvv', 'csc', 'pan', 'number', 'card_number', 'cardnumber', 'card', 'iban',
  'secret', 'next_secret', 'signing_secret', 'client_secret', 'password', 'passphrase', 'api_key', 'apikey', 'key_text', 'token',
  'master_key', 'masterkey', 'masterkeys', 'database_url', 'databaseurl', 'connectionstring', 'smtp_url', 'smtpurl',
  'x-svc-signature', 'x-svc-signature-next', 'webhook-signature', 'stripe-signature', 'private_key',
]);

// Most lines hold nothing of the kind: one cheap look spares them the walk. It may only err on the careful side.
const suspicious = /(?:svc|sk|rk)_(?:test|live)_|whsec_|_secret_|sim(?:card)_|bearer |:\/\/[^\s"/]*@|\d(?:[ -]?\d){12}|"(?:[\w-]*(?:authorization|cookie|cvc|cvv|csc|pan|number|card|iban|secret|password|passphrase|key|keys|token|url|signature))"\s*:/i;

/**
 * @param line one JSON text, as a logger is about to write it
 * @returns the same with secrets replaced, still JSON
 */
export function scrubJson(line: string): string {
  if (!suspicious.test(line)) return line;
  let field = '';
  return line.replace(/"((?:[^"\\]|\\.)*)"(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token: string, text: string | undefined, colon: string | undefined) => {
    if (text === undefined) return isSecretNumber(field, token) ? '"[redacted]"' : token;
    if (colon !== undefined) {
      field = text.toLowerCase();
      return `"${scrubText(text)}"${colon}`;
    }
    return secretFields.has(field) ? '"[redacted]"' : `"${scrubText(text)}"`;
  });
}

// A bare `number` is a count of something; a card number as one is caught by its digits.
function isSecretNumber(field: string, token: string): boolean {
  if (field !== 'number' && field !== 'card' && field !== 'token' && secretFields.has(field)) return true;
  return isCardNumber(token);
}

/** Replaces keys, signing secrets, passwords in addresses and card numbers in free text. */
export function scrubText(text: string): string {
  return text
    .replace(/svc_(test|live)_[0-9A-Za-z]+/g, 'svc_$1_[redacted]')
    .replace(/\b([sr]k)_(test|live)_[0-9A-Za-z]+/g, '$1_$2_[redacted]')
    // The secret of one payment at Stripe, as it stands in the address a bank sends the browser back to.
    .replace(/\b((?:pi|seti)_[0-9A-Za-z]+_secret_)[0-9A-Za-z]+/g, '$1[redacted]')
    .replace(/whsec_[0-9A-Za-z+/=_-]+/g, 'whsec_[redacted]')
    .replace(/simcard_[0-9A-Za-z_-]+/g, 'simcard_[redacted]')
    .replace(/\b(bearer|basic) [0-9A-Za-z+/=._~-]{8,}/gi, '$1 [redacted]')
    .replace(/(:\/\/[^\s"/:@]*):[^\s"/@]+@/g, '$1:[redacted]@')
    .replace(/(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g, (digits) => (isCardNumber(digits.replace(/[ -]/g, '')) ? '[card]' : digits));
}

// 13 to 19 digits, a first digit that card schemes use (so that epoch milliseconds, which begin with 1, are let
// through; 13 digits only ever began with 4), and the check digit of ISO/IEC 7812-1.
function isCardNumber(digits: string): boolean {
  if (!/^(?:[2-6]\d{13,18}|4\d{12})$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]) * (i % 2 === 1 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}
