// What must never reach a log line, whatever field or message it came in.
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../platform/log.ts';

function lineOf(write: (log: ReturnType<typeof createLog>) => void): { text: string; entry: Record<string, unknown> } {
  let text = '';
  write(createLog({ level: 'info', name: 'test', write: (line) => (text += line) }));
  return { text, entry: JSON.parse(text) as Record<string, unknown> };
}

describe('a log line', () => {
  const secrets: [string, unknown][] = [
    ['a card number', '4242424242424242'],
    ['a spaced card number', 'card 4242 4242 4242 4242 was typed'],
    ['an amex number with dashes', '3782-822463-10005'],
    ['a test key', 'key svc_test_4f9aZZ0123456789 used'],
    ['a live key', 'svc_live_4f9aZZ0123456789'],
    ['a secret key of Stripe', 'Invalid API Key provided: sk_live_4f9aZZ0123456789'],
    ['a restricted key of Stripe', 'rk_test_4f9aZZ0123456789'],
    ['a payment’s secret at Stripe', 'GET /back?payment_intent_client_secret=pi_3abc_secret_4f9aZZ'],
    ['a signing secret', 'whsec_c2VjcmV0LXNlY3JldA=='],
    ['a password in an address', 'connect to postgres://u:4f9aZZ@db/x failed'],
    ['a nested card number', { deep: [{ deeper: '5555555555554444' }] }],
    ['a numeric card number', { amount: 4242424242424242 }],
  ];
  for (const [name, value] of secrets) {
    it(`holds no trace of ${name}, in a field, a message or an error`, () => {
      const texts = [lineOf((log) => log.info({ value }, 'x')), lineOf((log) => log.info(typeof value === 'string' ? value : JSON.stringify(value))), lineOf((log) => log.error({ err: new Error(JSON.stringify(value)) }, 'x'))];
      for (const { text } of texts) expect(text).not.toMatch(/4242 ?4242|5555555|3782-?822463|4f9aZZ|c2VjcmV0/);
    });
  }

  it('redacts fields by name at any depth, numbers too', () => {
    const { entry } = lineOf((log) => log.info({ headers: { authorization: 'Bearer abc', cookie: ['a=1'] }, body: { card: { number: '41', cvc: 123 }, secret: 's' } }, 'request'));
    expect(entry).toMatchObject({ headers: { authorization: '[redacted]', cookie: ['[redacted]'] }, body: { card: { number: '[redacted]', cvc: '[redacted]' }, secret: '[redacted]' }, msg: 'request' });
  });

  it('leaves times, ids and counts alone', () => {
    const fields = { at: 1_732_195_000_124, id: 'cs_01jd7p3m4n5q6r7s8t9v0w1x2y', reference: 'txn_01jd7p3m4n5q6r7s8t9v0w1x2y:charge:1', number: 3, amount: 99_999_999 };
    expect(lineOf((log) => log.info(fields, 'paid')).entry).toMatchObject(fields);
  });

  it('stays one JSON object with quotes and line breaks in the text', () => {
    expect(lineOf((log) => log.info({ secret: 'a"b\n4242424242424242', note: 'say "svc_test_4f9a" \\ \n' }, 'x')).entry).toMatchObject({ secret: '[redacted]', note: 'say "svc_test_[redacted]" \\ \n' });
  });
});
