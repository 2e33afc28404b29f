// `npm test`: runs vitest and ends with the line `N passed, N failed`, also when vitest itself breaks. Arguments go on
// to vitest.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'checkout-count-'));
const countFile = join(folder, 'count.json');
const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs');
const child = spawn(process.execPath, [vitest, 'run', '--reporter=default', '--reporter=./test/support/count-reporter.ts', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, COUNT_FILE: countFile },
});
// Ctrl-C reaches vitest as well: wait for it to stop what it started.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));

const code = await new Promise<number>((resolve) => {
  child.once('error', () => resolve(1));
  child.once('close', (exit, signal) => resolve(signal === null ? (exit ?? 1) : 1));
});
const count = counted();
rmSync(folder, { recursive: true, force: true });
const failed = count.failed === 0 && code !== 0 ? 1 : count.failed;
process.stdout.write(`${count.passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && count.passed > 0 ? 0 : 1;

function counted(): { passed: number; failed: number } {
  try {
    return JSON.parse(readFileSync(countFile, 'utf8')) as { passed: number; failed: number };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
