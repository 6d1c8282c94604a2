// Prints `N passed, N failed` as the last line of a test run, for machines that read it.
import type { Reporter, TestModule } from 'vitest/node';

export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    let skipped = 0;
    for (const module of modules) {
      if (module.errors().length > 0) failed += module.errors().length;
      // A beforeAll or afterAll that failed: no test of the suite tells of it.
      for (const suite of module.children.allSuites()) failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const state = test.result().state;
        if (state === 'passed') passed += 1;
        else if (state === 'skipped') skipped += 1;
        else failed += 1;
      }
    }
    const skips = skipped > 0 ? `, ${skipped} skipped` : '';
    process.on('exit', () => console.log(`\n${passed} passed, ${failed} failed${skips}`));
  }
}
