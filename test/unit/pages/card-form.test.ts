import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Pan } from '../../../domain/card.ts';
import { readCardForm } from '../../../pages/checkout/card-form.ts';
import type { CardForm } from '../../../pages/checkout/card-form.ts';

const now = new Date('2026-11-21T12:00:00Z');
const good = { number: '4242 4242 4242 4242', expiry: '12 / 30', cvc: '123', name: 'Ada Lovelace', email: 'ada@example.com' };

function read(changes: Record<string, string> = {}, saved: string[] = []): CardForm {
  return readCardForm(new URLSearchParams({ ...good, ...changes }), saved, now);
}
function pan(form: CardForm): Pan {
  if (form.kind !== 'complete' || !(form.card instanceof Pan)) throw new Error(`no card: ${inspect(form)}`);
  return form.card;
}
function problems(form: CardForm): object {
  return form.kind === 'incomplete' ? form.problems : {};
}

describe('the card form', () => {
  it('makes a card of what was typed, and a payer', () => {
    const form = read();
    expect(pan(form).reveal()).toEqual({ number: '4242424242424242', cvc: '123' });
    expect(pan(form)).toMatchObject({ expiryMonth: 12, expiryYear: 2030, holderName: 'Ada Lovelace' });
    expect(form).toMatchObject({ payer: { name: 'Ada Lovelace', email: 'ada@example.com' } });
  });

  it.each(['1230', '12/30', '12/2030', '12 / 30', '12-30', ' 12 / 2030 ', '122030', '١٢/٣٠'])('reads %s as December 2030', (expiry) => {
    expect(pan(read({ expiry }))).toMatchObject({ expiryMonth: 12, expiryYear: 2030 });
  });

  it.each(['130', '1/30', '01/30', '0130'])('reads %s as January 2030', (expiry) => {
    expect(pan(read({ expiry }))).toMatchObject({ expiryMonth: 1, expiryYear: 2030 });
  });

  it.each(['13/30', '00/30', '12', '12/3', 'soon', '12/30/2030', '12/1930'])('asks for another form of %s', (expiry) => {
    expect(problems(read({ expiry }))).toEqual({ expiry: 'expiry_form' });
  });

  it('takes a card until its month has ended everywhere', () => {
    expect(read({ expiry: '11/26' }).kind).toBe('complete');
    expect(problems(read({ expiry: '10/26' }))).toEqual({ expiry: 'expiry_past' });
    const between = (at: string) => readCardForm(new URLSearchParams({ ...good, expiry: '10/26' }), [], new Date(at)).kind;
    expect(between('2026-11-01T11:59:59Z')).toBe('complete');
    expect(between('2026-11-01T12:00:00Z')).toBe('incomplete');
  });

  it.each(['4242424242424242', '4242-4242-4242-4242', '4242\u00a04242\u00a04242\u00a04242', '٤٢٤٢ ٤٢٤٢ ٤٢٤٢ ٤٢٤٢', '４２４２４２４２４２４２４２４２'])('accepts the number %s', (number) => {
    expect(pan(read({ number })).last4).toBe('4242');
  });

  it.each([
    ['', 'number_missing'],
    ['4242 4242', 'number_incomplete'],
    ['3782 822463 1000', 'number_incomplete'],
    ['4242 4242 4242 4241', 'number_invalid'],
    ['4242 4242 4242 424x', 'number_invalid'],
    ['42424242424242424242', 'number_invalid'],
  ])('says what is wrong with the number "%s"', (number, problem) => {
    expect(problems(read({ number }))).toHaveProperty('number', problem);
  });

  it('wants four digits from American Express and three from the others', () => {
    const amex = '378282246310005';
    expect(read({ number: amex, cvc: '1234' }).kind).toBe('complete');
    expect(problems(read({ number: amex, cvc: '123' }))).toEqual({ cvc: 'cvc_four' });
    expect(problems(read({ cvc: '1234' }))).toEqual({ cvc: 'cvc_three' });
    expect(problems(read({ cvc: '' }))).toEqual({ cvc: 'cvc_missing' });
  });

  it('takes a name in any script and refuses none at all', () => {
    for (const name of ['José Ñandú', '山田太郎', 'محمد علي', "O'Brien-Smith"]) expect(pan(read({ name })).holderName).toBe(name);
    expect(problems(read({ name: ' \u0000 ' }))).toEqual({ name: 'name_missing' });
    expect(problems(read({ name: 'x'.repeat(101) }))).toEqual({ name: 'name_long' });
  });

  it('leaves the e-mail to the customer but not its form', () => {
    expect(read({ email: '' })).toMatchObject({ kind: 'complete', payer: { name: 'Ada Lovelace' } });
    for (const email of ['ada', 'ada@', '@example.com', 'a b@example.com', `${'a'.repeat(250)}@x.com`]) {
      expect(problems(read({ email }))).toEqual({ email: 'email_form' });
    }
  });

  it('keeps no card number that landed in another field', () => {
    const form = read({ name: '4242 4242 4242 4242', email: '4242424242424242@example.com' });
    expect(problems(form)).toEqual({ name: 'name_invalid', email: 'email_form' });
    expect(form.kept).toMatchObject({ name: '', email: '' });
    expect(inspect(form, { depth: 9 })).not.toContain('4242');
  });

  it('keeps name and e-mail of a refused form, and nothing of the card', () => {
    const form = read({ cvc: '9' });
    expect(form.kept).toEqual({ method: 'new', name: 'Ada Lovelace', email: 'ada@example.com' });
    expect(inspect(form, { depth: 9 })).not.toMatch(/4242|'9'/);
  });

  it('takes a saved card of this session and no other', () => {
    expect(read({ method: 'pt_a', number: '' }, ['pt_a'])).toMatchObject({ kind: 'complete', card: { savedTokenId: 'pt_a' } });
    expect(problems(read({ method: 'pt_b' }, ['pt_a']))).toEqual({ method: 'method_unknown' });
    expect(read({ method: 'pt_b' }, ['pt_a']).kept.method).toBe('new');
  });

  it('names every wrong field at once', () => {
    expect(Object.keys(problems(readCardForm(new URLSearchParams(), [], now)))).toEqual(['number', 'expiry', 'cvc', 'name']);
  });
});
