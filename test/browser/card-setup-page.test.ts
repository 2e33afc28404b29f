// The page that saves a card, in a real browser over a fixture door, with and without scripts.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openBrowser, type TestBrowser } from '../support/chromium.ts';
import { findViolations } from './support/axe.ts';
import { setupStates, setupView } from './support/fixture-setup.ts';
import { type FixtureServer, startFixtureServer } from './support/fixture-server.ts';

const states = Object.keys(setupStates);
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
  server.setup.saved.length = 0;
  server.setup.results.length = 0;
});

async function open(state: string, options: Parameters<TestBrowser['newPage']>[0] = {}): Promise<Page> {
  const page = await browser.newPage(options);
  await page.goto(`${server.url}/setup/${state}`);
  return page;
}

async function typeCard(page: Page): Promise<void> {
  for (const [id, text] of Object.entries({ number: '4242424242424242', expiry: '1230', cvc: '123', name: 'Ada Lovelace' })) await page.locator(`#${id}`).fill(text);
}

/** Nobody answers at the merchant's: that the browser asks there is what counts. */
async function leavesTo(page: Page, address: string, act: () => Promise<void>): Promise<void> {
  await Promise.all([page.waitForRequest(address), act()]);
}

const saveButton = (page: Page) => page.getByRole('button', { name: 'Save card' });

describe('every page of a card setup', () => {
  it('has no accessibility violation, wide and light, narrow and dark', async () => {
    for (const [width, colorScheme] of [[1280, 'light'], [320, 'dark']] as const) {
      const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
      for (const state of [...states, 'nowhere', 'refused']) {
        await page.goto(`${server.url}/setup/${state === 'refused' ? 'open' : state}`);
        if (state === 'refused') await saveButton(page).click();
        await page.locator('.test-cards summary').click({ timeout: 1, noWaitAfter: true }).catch(() => undefined);
        expect(await findViolations(page), `${state} at ${width}, ${colorScheme}`).toEqual({ passed: true, violations: [] });
      }
      await page.context().close();
    }
  });

  it('fits 320 pixels, in every state and language', async () => {
    for (const locale of ['en', 'fr', 'es', 'ar']) {
      const page = await browser.newPage({ viewport: { width: 320, height: 640 }, locale });
      for (const state of states) {
        await page.goto(`${server.url}/setup/${state}`);
        expect(await page.getAttribute('html', 'lang')).toBe(locale);
        for (const details of await page.locator('details').all()) await details.evaluate((element) => element.setAttribute('open', ''));
        expect(await page.evaluate('document.documentElement.scrollWidth'), `${state} in ${locale}`).toBeLessThanOrEqual(320);
      }
      await page.context().close();
    }
  });

  it('raises no error and breaks no rule of its own policy', async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    for (const state of states) await page.goto(`${server.url}/setup/${state}`);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('never speaks of an amount, and names the card that was saved', async () => {
    const page = await open('open');
    expect(await page.locator('body').innerText()).toContain('Nothing is charged now');
    expect(await page.locator('.amount').count()).toBe(0);
    await page.goto(`${server.url}/setup/completed`);
    expect(await page.locator('.facts').innerText()).toMatch(/Visa •••• 4242/);
    expect(await page.getByRole('link', { name: /Return to/ }).getAttribute('href')).toBe(`https://shop.example/saved?from=account&session_id=${setupView.sessionId}`);
    await page.context().close();
  });
});

describe('the form', () => {
  it.each([true, false])('saves the card and leads to the merchant, with scripts: %s', async (javaScriptEnabled) => {
    const page = await open('open', { javaScriptEnabled });
    await typeCard(page);
    await leavesTo(page, `https://shop.example/saved?from=account&session_id=${setupView.sessionId}`, () => saveButton(page).click());
    expect(server.setup.saved).toEqual(['4242']);
    await page.context().close();
  });

  it('is sent once by a double click', async () => {
    const page = await open('open');
    await typeCard(page);
    await leavesTo(page, `https://shop.example/saved?from=account&session_id=${setupView.sessionId}`, () => saveButton(page).dblclick());
    expect(server.setup.saved).toEqual(['4242']);
    await page.context().close();
  });

  it('fills in a test card at a click', async () => {
    const page = await open('open');
    await page.locator('.test-cards summary').click();
    await page.getByRole('button', { name: /Use test card 5555/ }).click();
    expect(await page.locator('#number').inputValue()).toBe('5555 5555 5555 4444');
    await page.context().close();
  });

  it('says beside the field what the gateway refuses, keeps the name and forgets the number', async () => {
    server.setup.results.push({ kind: 'card_rejected', field: 'cvc', message: 'The security code is not valid.' });
    const page = await open('open', { javaScriptEnabled: false });
    await typeCard(page);
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await saveButton(page).click();
    expect((await answered).status()).toBe(422);
    expect(await page.locator('#cvc-error').innerText()).toBe('The security code is not valid.');
    expect([await page.locator('#name').inputValue(), await page.locator('#number').inputValue(), await page.locator('#cvc').inputValue()]).toEqual(['Ada Lovelace', '', '']);
    await page.context().close();
  });

  it('asks to try again when the gateway was not reached', async () => {
    server.setup.results.push({ kind: 'try_again' });
    const page = await open('open');
    await typeCard(page);
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await saveButton(page).click();
    expect((await answered).status()).toBe(503);
    expect(await page.locator('.alert:visible').innerText()).toContain('Your card was not saved');
    await page.context().close();
  });

  it('can be left by its cancel button', async () => {
    const page = await open('open');
    await leavesTo(page, `https://shop.example/account?session_id=${setupView.sessionId}`, () => page.getByRole('button', { name: 'Cancel' }).click());
    await page.context().close();
  });

  it('has no cancel button when there is nowhere to go, and knows the customer', async () => {
    const page = await open('live');
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    expect(await page.locator('#name').inputValue()).toBe('Marcia Griffiths');
    await page.context().close();
  });
});
