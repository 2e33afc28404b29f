// The checkout in a real browser over a fixture door: what a customer sees and does, with and without scripts.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestBrowser } from '../support/chromium.ts';
import { openBrowser } from '../support/chromium.ts';
import { findViolations } from './support/axe.ts';
import { fixtureStates, fixtureView } from './support/fixture-checkout.ts';
import type { FixtureServer } from './support/fixture-server.ts';
import { startFixtureServer } from './support/fixture-server.ts';

const states = [...Object.keys(fixtureStates), 'nowhere'];
let server: FixtureServer;
let browser: TestBrowser;
beforeAll(async () => {
  [server, browser] = await Promise.all([startFixtureServer(), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});
beforeEach(() => {
  server.door.payments.length = 0;
  server.door.results.length = 0;
});

async function open(state: string, options: Parameters<TestBrowser['newPage']>[0] = {}): Promise<Page> {
  const page = await browser.newPage(options);
  await page.goto(`${server.url}/checkout/${state}`);
  return page;
}

async function typeCard(page: Page, card = { number: '4242424242424242', expiry: '1230', cvc: '123', name: 'Ada Lovelace' }): Promise<void> {
  for (const [id, text] of Object.entries(card)) await page.locator(`#${id}`).pressSequentially(text);
}

describe('every page', () => {
  it('has no accessibility violation, wide and light, narrow and dark', async () => {
    for (const [width, colorScheme] of [[1280, 'light'], [320, 'dark']] as const) {
      const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
      for (const state of [...states, 'refused']) {
        await page.goto(`${server.url}/checkout/${state === 'refused' ? 'payable' : state}`);
        if (state === 'refused') await page.getByRole('button', { name: /^Pay/ }).click();
        await page.locator('.test-cards summary').click({ timeout: 1, noWaitAfter: true }).catch(() => undefined);
        const found = await findViolations(page);
        expect(found, `${state} at ${width}, ${colorScheme}`).toEqual({ passed: true, violations: [] });
      }
      await page.context().close();
    }
  });

  it('fits 320 pixels, in every state and language', async () => {
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
    for (const state of states) {
      await page.goto(`${server.url}/checkout/${state}`);
      for (const details of await page.locator('details').all()) await details.evaluate((element) => element.setAttribute('open', ''));
      expect(await page.evaluate('document.documentElement.scrollWidth'), state).toBeLessThanOrEqual(320);
    }
    await page.context().close();
  });

  it('raises no error and breaks no rule of its own policy', async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && !/ERR_NAME_NOT_RESOLVED|status of 404/.test(message.text()) && complaints.push(message.text()));
    for (const state of states) await page.goto(`${server.url}/checkout/${state}`);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

describe('the pay form', () => {
  it('takes the first press of a button although leaving a mistaken field shows its error', async () => {
    const page = await open('payable');
    await page.locator('#number').pressSequentially('4242424242424241');
    await page.getByRole('button', { name: /^Pay/ }).click();
    expect(await page.evaluate('document.activeElement.id')).toBe('errors');
    await page.reload();
    await page.locator('#number').pressSequentially('4242424242424241');
    await page.locator('#expiry').focus();
    expect(await page.locator('#number-error').textContent()).toContain('mistake');
    await page.context().close();
  });

  it('spaces the number, knows the brand and the length of its code', async () => {
    const page = await open('payable');
    const number = page.locator('#number');
    await number.pressSequentially('4242424242424242');
    expect(await number.inputValue()).toBe('4242 4242 4242 4242');
    expect(await page.locator('.marks').getAttribute('data-brand')).toBe('visa');
    await number.fill('');
    await number.pressSequentially('378282246310005');
    expect(await number.inputValue()).toBe('3782 822463 10005');
    expect(await page.locator('#cvc-hint').textContent()).toContain('4 digits');
    await page.context().close();
  });

  it('keeps the caret behind the digit being typed in the middle', async () => {
    const page = await open('payable');
    const number = page.locator('#number');
    await number.fill('4242 4242 4242');
    await number.evaluate((element: HTMLInputElement) => element.setSelectionRange(2, 2));
    await number.pressSequentially('99');
    expect(await number.inputValue()).toBe('4299 4242 4242 42');
    expect(await number.evaluate((element: HTMLInputElement) => element.selectionStart)).toBe(4);
    await page.context().close();
  });

  it.each([['1230', '12 / 30'], ['12/30', '12 / 30'], ['12/2030', '12 / 30'], ['3/30', '03 / 30'], ['1/30', '01 / 30'], ['12 / 30', '12 / 30']])('turns the expiry %s into %s', async (typed, shown) => {
    const page = await open('payable');
    await page.locator('#expiry').pressSequentially(typed);
    await page.locator('#cvc').focus();
    expect(await page.locator('#expiry').inputValue()).toBe(shown);
    await page.locator('#expiry').focus();
    for (let i = 0; i < 8; i++) await page.keyboard.press('Backspace');
    expect(await page.locator('#expiry').inputValue()).toBe('');
    await page.context().close();
  });

  it('says on blur that the number has a mistake, and takes it back when it is mended', async () => {
    const page = await open('payable');
    await page.locator('#number').pressSequentially('4242424242424241');
    await page.locator('#expiry').focus();
    expect(await page.locator('#number').getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('#number').getAttribute('aria-describedby')).toBe('number-error');
    await page.locator('#number').press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('2');
    expect(await page.locator('#number').getAttribute('aria-invalid')).toBeNull();
    expect(await page.locator('#number-error').isVisible()).toBe(false);
    await page.context().close();
  });

  it('puts the focus on a summary of what is wrong, whose lines lead to the fields', async () => {
    const page = await open('payable');
    await page.getByRole('button', { name: /^Pay/ }).click();
    expect(await page.evaluate('document.activeElement.id')).toBe('errors');
    await page.getByRole('link', { name: 'Enter the security code.' }).click();
    expect(await page.evaluate('document.activeElement.id')).toBe('cvc');
    expect(server.door.payments).toEqual([]);
    await page.context().close();
  });

  it('is sent once however often it is clicked, keeps its width and says so', async () => {
    const page = await open('payable');
    server.door.results.push({ kind: 'redirect', to: `${server.url}/checkout/completed` });
    await typeCard(page);
    // As fast as clicks can come: within one task, before anything is painted.
    const seen = await page.locator('.primary').evaluate((element: HTMLButtonElement) => {
      const before = element.offsetWidth;
      element.click();
      element.click();
      element.form?.requestSubmit();
      return { disabled: element.disabled, grown: element.offsetWidth - before, said: document.getElementById('live')?.textContent };
    });
    expect(seen).toEqual({ disabled: true, grown: 0, said: 'Processing…' });
    await page.waitForURL('**/completed');
    expect(server.door.payments).toHaveLength(1);
    await page.context().close();
  });

  it('is filled by a click on a test card', async () => {
    const page = await open('saved');
    await page.getByText('Test cards').click();
    await page.getByRole('button', { name: 'Use test card 3782 822463 10005' }).click();
    expect(await page.locator('#number').inputValue()).toBe('3782 822463 10005');
    expect(await page.locator('#cvc').inputValue()).toBe('1234');
    expect(await page.locator('[name=method][value=new]').isChecked()).toBe(true);
    await page.context().close();
  });

  it('pays by keyboard alone', async () => {
    const page = await open('payable');
    server.door.results.push({ kind: 'redirect', to: `${server.url}/checkout/completed` });
    await page.locator('#email').focus();
    for (const text of ['ada@example.com', '4242424242424242', '1230', '123', 'Ada Lovelace']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.waitForURL('**/completed');
    expect(server.door.payments).toHaveLength(1);
    await page.context().close();
  });

  it('hides the card fields while a saved card is chosen', async () => {
    const page = await open('saved');
    expect(await page.locator('#number').isVisible()).toBe(false);
    await page.getByText('A new card').click();
    expect(await page.locator('#number').isVisible()).toBe(true);
    await page.getByText('Visa ending in 4242').click();
    server.door.results.push({ kind: 'redirect', to: `${server.url}/checkout/completed` });
    await page.getByRole('button', { name: /^Pay/ }).click();
    await page.waitForURL('**/completed');
    expect(server.door.payments).toMatchObject([{ savedTokenId: fixtureStates['saved']?.savedCards?.[0]?.id }]);
    await page.context().close();
  });
});

describe('without scripts', () => {
  it('refuses with a focused summary, keeps name and e-mail, then pays', async () => {
    const page = await open('payable', { javaScriptEnabled: false });
    await page.locator('#name').fill('山田太郎');
    await page.locator('#email').fill('yamada@example.com');
    await page.locator('#number').fill('4242 4242 4242 4241');
    await page.locator('#cvc').fill('123');
    await page.getByRole('button', { name: /^Pay/ }).click();
    await page.locator('#errors:focus').waitFor();
    expect(await page.title()).toMatch(/^Error: /);
    expect(await page.locator('#number').inputValue()).toBe('');
    expect(await page.locator('#cvc').inputValue()).toBe('');
    expect(await page.locator('#name').inputValue()).toBe('山田太郎');
    await page.locator('#number').fill('4242424242424242');
    await page.locator('#expiry').fill('12/30');
    await page.locator('#cvc').fill('123');
    server.door.results.push({ kind: 'redirect', to: `${server.url}/checkout/completed` });
    await page.getByRole('button', { name: /^Pay/ }).click();
    await page.waitForURL('**/completed');
    expect(server.door.payments).toMatchObject([{ last4: '4242', payer: { name: '山田太郎', email: 'yamada@example.com' } }]);
    await page.context().close();
  });

  it('shows test card numbers as text, and moves on from the waiting page', async () => {
    const page = await open('payable', { javaScriptEnabled: false });
    await page.getByText('Test cards').click();
    expect(await page.getByText('4000 0000 0000 3220').isVisible()).toBe(true);
    server.door.views.set('slow', { ...fixtureView, token: 'slow', phase: 'processing' });
    await page.goto(`${server.url}/checkout/slow`);
    server.door.views.set('slow', { ...fixtureView, token: 'slow', phase: 'completed', status: 'completed', successUrl: `${server.url}/checkout/completed` });
    await page.waitForURL('**/completed?session_id=*');
    await page.context().close();
  });
});

describe('afterwards', () => {
  it('reload and the back button show the state and never send the card again', async () => {
    const page = await open('payable');
    server.door.views.set('payable', { ...fixtureView });
    await typeCard(page);
    server.door.results.push({ kind: 'redirect', to: `${server.url}/checkout/completed` });
    await page.getByRole('button', { name: /^Pay/ }).click();
    await page.waitForURL('**/completed');
    server.door.views.set('payable', { ...fixtureView, phase: 'completed', status: 'completed' });
    await page.reload();
    await page.goBack();
    await page.getByRole('heading', { name: 'Payment complete' }).waitFor();
    expect(server.door.payments).toHaveLength(1);
    server.door.views.delete('payable');
    await page.context().close();
  });

  it('the waiting page says not to pay again and moves on by itself', async () => {
    server.door.views.set('wait', { ...fixtureView, token: 'wait', phase: 'processing' });
    const page = await open('wait');
    expect(await page.getByText('Do not pay again').isVisible()).toBe(true);
    server.door.views.set('wait', { ...fixtureView, token: 'wait', phase: 'failed', status: 'failed', failureUrl: `${server.url}/checkout/failed` });
    await page.waitForURL('**/failed?session_id=*');
    await page.context().close();
  });
});

describe('hostile text', () => {
  it('stays text, wherever a merchant can write', async () => {
    const page = await browser.newPage();
    let ran = 0;
    page.on('dialog', (dialog) => {
      ran++;
      void dialog.dismiss();
    });
    const texts = hostileTexts();
    // Every text is a line of the order; one in eleven also stands wherever else a merchant or customer can write.
    const lineItems = texts.map((text) => ({ name: text, description: text, quantity: 1, unitAmountMinor: 1, imageUrl: text, taxAmountMinor: null }));
    for (const text of texts.filter((_, index) => index % 11 === 0)) {
      for (const phase of ['payable', 'failed'] as const) {
        server.door.views.set('hostile', {
          ...fixtureView,
          token: 'hostile',
          phase,
          merchant: { name: text, logoUrl: text, primaryColor: text },
          description: text,
          taxName: text,
          lineItems,
          customer: { name: text, email: text },
          successUrl: text,
          failureUrl: text,
          cancelUrl: text,
          savedCards: [{ id: text, brand: text, last4: text, expiryMonth: 1, expiryYear: 2030 }],
          receiptNumber: text,
          locale: text,
        });
        const answer = await page.goto(`${server.url}/checkout/hostile`);
        expect(answer?.status(), text).toBe(200);
        expect(await page.evaluate(`document.querySelectorAll('body script, iframe, object, [onerror], [onload], [href^="javascript" i]').length`), text).toBe(0);
        expect(await page.locator('.line-name').allTextContents()).toHaveLength(texts.length);
      }
    }
    expect(ran).toBe(0);
    expect(await page.evaluate('window.hit')).toBeUndefined();
    await page.context().close();
  });
});

/** A hundred ways to leave a text or an attribute. */
function hostileTexts(): string[] {
  const payloads = ['<script>hit=1</script>', '<img src=x onerror=hit=1>', '<svg/onload=hit=1>', '<iframe src=javascript:hit=1>', 'javascript:alert(1)', '<a href="javascript:alert(1)">x</a>', '<body onload=alert(1)>', '<details open ontoggle=alert(1)>', '{{7*7}}', '</title><script>alert(1)</script>'];
  const wrappers = [(t: string) => t, (t: string) => `"${t}`, (t: string) => `'>${t}`, (t: string) => `">${t}<"`, (t: string) => `--><!--${t}`, (t: string) => `]]>${t}`, (t: string) => `\u2028${t}`, (t: string) => `&lt;${t}`, (t: string) => `</textarea></noscript>${t}`, (t: string) => `\u202e${t}\u0000`];
  return payloads.flatMap((payload) => wrappers.map((wrap) => wrap(payload)));
}
