import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, withoutCvc } from '../../../api/canonical-json.ts';

describe('canonical JSON', () => {
  it('is the same for all orders of names', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: 1 })).toBe('{"a":1,"b":[1,{"c":"x","d":null}]}');
  });

  it('tells different values apart and parses back to the same one', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      const parsed: unknown = JSON.parse(JSON.stringify(value));
      expect(JSON.parse(canonicalJson(parsed))).toEqual(parsed);
    }));
  });

  it('leaves the CVC out and nothing else', () => {
    const body = { card: { number: '4242', cvc: '123' }, cvc: 'kept' };
    expect(withoutCvc(body)).toEqual({ card: { number: '4242' }, cvc: 'kept' });
    expect(body.card.cvc).toBe('123');
    expect(withoutCvc([1])).toEqual([1]);
    expect(withoutCvc({ card: 'x' })).toEqual({ card: 'x' });
  });
});
