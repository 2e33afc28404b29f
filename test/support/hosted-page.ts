// A customer on the hosted page, without a browser: reads the page, posts its forms, follows nothing.
import { request } from 'undici';

export interface PageAnswer {
  readonly status: number;
  readonly location: string | null;
  readonly text: string;
}

/** The hidden token every form of this page carries. */
export async function formTokenOf(checkoutUrl: string): Promise<string> {
  return /name="form_token" value="([^"]+)"/.exec((await openPage(checkoutUrl)).text)?.[1] ?? '';
}

/** Pays with a card number; the other fields are filled with what passes. Give `form_token` to open the page only once. */
export function payOnPage(checkoutUrl: string, cardNumber: string, fields: Record<string, string> = {}): Promise<PageAnswer> {
  return postForm(checkoutUrl, 'pay', { ...cardFields(cardNumber), email: 'ada@example.com', ...fields });
}

/** Saves a card on the page of a card setup. */
export function saveOnPage(setupUrl: string, cardNumber: string, fields: Record<string, string> = {}): Promise<PageAnswer> {
  return postForm(setupUrl, 'save', { ...cardFields(cardNumber), ...fields });
}

export function cancelOnPage(checkoutUrl: string): Promise<PageAnswer> {
  return postForm(checkoutUrl, 'cancel', {});
}

export async function openPage(address: string): Promise<PageAnswer> {
  return read(await request(address));
}

function cardFields(number: string): Record<string, string> {
  return { number, expiry: '12 / 30', cvc: /^3[47]/.test(number) ? '1234' : '123', name: 'Ada Lovelace' };
}

async function postForm(checkoutUrl: string, action: string, fields: Record<string, string>): Promise<PageAnswer> {
  const formToken = fields['form_token'] ?? (await formTokenOf(checkoutUrl));
  return read(
    await request(`${checkoutUrl}/${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ form_token: formToken, ...fields }).toString(),
    }),
  );
}

async function read(answer: Awaited<ReturnType<typeof request>>): Promise<PageAnswer> {
  const { location } = answer.headers;
  return { status: answer.statusCode, location: typeof location === 'string' ? location : null, text: await answer.body.text() };
}
