// Accessibility rules run in a page. The page must be opened with `bypassCSP`: the policy that protects customers also
// keeps axe out; nothing else is loosened.
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** `passed` tells that rules were run at all. */
export async function findViolations(page: Page): Promise<{ passed: boolean; violations: string[] }> {
  await page.addScriptTag({ path: axePath });
  return page.evaluate(
    `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then((result) => ({ passed: result.passes.length > 10, violations: result.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html).join(' | ')) }))`,
  );
}
