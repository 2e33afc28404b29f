// Two projects: `unit` needs nothing running and is part of `npm run check`; `system` shares one Postgres and one
// Temporal server, started before its first file. Forks, since the native Temporal module does not live in threads.
import { defineConfig } from 'vitest/config';

const systemTests = ['test/{model,workflow,contract,api,e2e,browser,histories,counters}/**/*.test.{ts,tsx}', 'test/support/**/*.test.ts'];

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: {
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.{ts,tsx}'], testTimeout: 10_000, sequence: { groupOrder: 0 } } },
      {
        extends: true,
        test: {
          name: 'system',
          include: systemTests,
          globalSetup: ['test/support/global-setup.ts'],
          // Two cores, a real server each way: what takes one second alone may take ten beside others.
          testTimeout: 60_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
