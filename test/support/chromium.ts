// A real Chromium for browser tests: the one from npm, or CHROMIUM_PATH. Each page has a context of its own, so no
// cookies are shared; nothing in it talks to the network by itself.
import { mkdirSync, rmdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import bundled from '@sparticuz/chromium';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

export interface TestBrowser {
  readonly browser: Browser;
  /** A page in a fresh context. */
  newPage(options?: BrowserContextOptions): Promise<Page>;
  close(): Promise<void>;
}

// No updates, no variations, no safe-browsing lists, no sync: a test must not wait for addresses that are not there.
const quiet = [
  '--disable-background-networking', '--disable-component-update', '--disable-default-apps', '--disable-domain-reliability', '--disable-sync', '--disable-breakpad',
  '--disable-client-side-phishing-detection', '--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider',
  '--metrics-recording-only', '--no-first-run', '--no-default-browser-check', '--no-pings', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1',
  '--disable-dev-shm-usage', '--disable-gpu', '--hide-scrollbars',
];

export async function openBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: await executable(),
    args: [...quiet, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
    headless: true,
    timeout: 60_000,
  });
  return {
    browser,
    async newPage(options = {}) {
      const page = await (await browser.newContext({ locale: 'en-US', ...options })).newPage();
      page.setDefaultTimeout(20_000);
      return page;
    },
    close: () => browser.close(),
  };
}

// The package unpacks itself into the temporary folder; two test files doing that at once would run half a file.
async function executable(): Promise<string> {
  const given = process.env['CHROMIUM_PATH'];
  if (given !== undefined && given !== '') return given;
  const lock = join(tmpdir(), 'checkout-chromium.lock');
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      // A killed run's lock is stale after a minute; unpacking takes about a second.
      if (Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > 60_000) rmdirSync(lock);
      await pause(50);
    }
  }
  try {
    return await bundled.executablePath();
  } finally {
    rmdirSync(lock);
  }
}
