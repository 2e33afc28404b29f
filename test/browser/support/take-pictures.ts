// Pictures of every state for looking at: `node --import tsx test/browser/support/take-pictures.ts [folder] [state …]`.
// Makes {state}-{width}-{scheme}.png in a temporary folder unless told another.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser } from '../../support/chromium.ts';
import { fixtureStates } from './fixture-checkout.ts';
import { setupStates } from './fixture-setup.ts';
import { startFixtureServer } from './fixture-server.ts';

const [folder = mkdtempSync(join(tmpdir(), 'checkout-pages-')), ...wanted] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const server = await startFixtureServer();
const browser = await openBrowser();
try {
  for (const width of [1280, 320]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ viewport: { width, height: width === 320 ? 640 : 860 }, colorScheme });
      for (const state of wanted.length > 0 ? wanted : [...Object.keys(fixtureStates), 'nowhere', 'refused', ...Object.keys(setupStates).map((state) => `setup-${state}`), 'setup-refused']) {
        const isRefused = state.endsWith('refused');
        const path = state.startsWith('setup-') ? `setup/${isRefused ? 'open' : state.slice('setup-'.length)}` : `checkout/${isRefused ? 'payable' : state}`;
        await page.goto(`${server.url}/${path}`);
        if (isRefused) await page.locator('form.pay button[type=submit]').click();
        await page.screenshot({ path: join(folder, `${state}-${width}-${colorScheme}.png`), fullPage: true });
      }
      await page.context().close();
    }
  }
} finally {
  await browser.close();
  await server.close();
}
process.stdout.write(`${folder}\n`);
