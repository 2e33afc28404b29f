// A vitest reporter that leaves two numbers in the file COUNT_FILE names. A file that cannot be loaded, a hook that
// fails and an error outside any test each count as one failure, so that "0 failed" means nothing went wrong.
import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    let passed = 0;
    let failed = unhandled.length;
    for (const module of modules) {
      let failedHere = 0;
      for (const test of module.children.allTests()) {
        const state = test.result().state;
        if (state === 'passed') passed++;
        if (state === 'failed') failedHere++;
      }
      if (failedHere === 0 && module.state() === 'failed') failedHere = 1;
      failed += failedHere;
    }
    const file = process.env['COUNT_FILE'];
    if (file !== undefined) writeFileSync(file, JSON.stringify({ passed, failed }));
  }
}

// oxlint-disable-next-line import/no-default-export -- vitest loads reporters by their default export
export default CountReporter;
