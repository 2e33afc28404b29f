import fc from 'fast-check';
import { ulid } from 'ulid';
import { describe, expect, it } from 'vitest';
import { idPrefixes, isId, makeId, type IdKind } from '../../../domain/id.ts';
import { makeReceiptNumber } from '../../../domain/receipt-number.ts';

const kinds = Object.keys(idPrefixes) as IdKind[];

describe('an id', () => {
  it('is a prefix and 26 lower-case characters, and known as its own kind only', () => {
    for (const kind of kinds) {
      const id = makeId(kind, ulid);
      expect(id).toMatch(new RegExp(`^${idPrefixes[kind]}_[0-9a-z]{26}$`));
      expect(kinds.filter((other) => isId(other, id))).toEqual([kind]);
    }
  });

  it('has the prefixes that merchants see', () => {
    expect(idPrefixes).toMatchObject({ session: 'cs', transaction: 'txn', subscription: 'sub', customer: 'cus', token: 'pt', automationHook: 'whe_zap', event: 'evt' });
    expect(new Set(Object.values(idPrefixes)).size).toBe(kinds.length);
  });

  it('is not anything else, however much it looks like one', () => {
    const id = makeId('session', ulid);
    for (const text of ['', 'cs_', id.toUpperCase(), `${id}0`, id.slice(0, -1), ` ${id}`, `${id}\n`, id.replace('cs_', 'cs-'), 'cs_' + 'i'.repeat(26), 'cs_8' + '0'.repeat(25)]) {
      expect(isId('session', text), JSON.stringify(text)).toBe(false);
    }
    fc.assert(fc.property(fc.string(), (text) => !isId('session', text)));
  });
});

describe('a receipt number', () => {
  const at = new Date('2026-11-21T23:59:59.999Z');

  it('is the UTC date and eight characters nobody mistakes for each other', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 5, maxLength: 16 }), (random) => {
        expect(makeReceiptNumber(at, random)).toMatch(/^R-261121-[2-9A-HJ-NP-Z]{8}$/);
      }),
    );
  });

  it('keeps all forty bits of its randomness', () => {
    expect(makeReceiptNumber(at, new Uint8Array(5))).toBe('R-261121-22222222');
    expect(makeReceiptNumber(at, new Uint8Array(5).fill(255))).toBe('R-261121-ZZZZZZZZ');
    const pair = fc.tuple(fc.uint8Array({ minLength: 5, maxLength: 5 }), fc.uint8Array({ minLength: 5, maxLength: 5 }));
    fc.assert(fc.property(pair, ([a, b]) => (makeReceiptNumber(at, a) === makeReceiptNumber(at, b)) === a.every((byte, i) => byte === b[i])));
  });
});
