// Runs single tests of the suite in this process, against statements that lack a guard.
import { resolve } from 'node:path';
import { createVitest, type Vitest } from 'vitest/node';
import type { Guard } from './guards.ts';

const root = resolve(import.meta.dirname, '../..');
const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

export class Tests {
  readonly #vitest: Vitest;

  private constructor(vitest: Vitest) {
    this.#vitest = vitest;
  }

  static async open(): Promise<Tests> {
    const setupFiles = ['tools/ablate/setup.ts'];
    const vitest = await createVitest('test', {
      root,
      watch: false,
      reporters: [{}],
      setupFiles,
      bail: 1,
      maxWorkers: 1,
      // Without its guard a call may wait for ever.
      testTimeout: 100_000,
      hookTimeout: 30_000,
    });
    await vitest.standalone();
    return new Tests(vitest);
  }

  /** The first test that fails without the guard: of those whose name begins so, or of the whole file. */
  async failing(guard: Guard, file: string, name?: string): Promise<string | undefined> {
    const vitest = this.#vitest;
    vitest.provide('ablated', guard.edits);
    if (name === undefined) vitest.resetGlobalTestNamePattern();
    else vitest.setGlobalTestNamePattern(new RegExp(`^${escaped(name)}`));
    const files = await vitest.globTestSpecifications([file]);
    const run = await vitest.runTestSpecifications(files, false);
    const { unhandledErrors } = run;
    // It gives all modules that were ever run, also those that failed without another guard.
    const testModules = run.testModules.filter(({ moduleId }) => files.some((one) => one.moduleId === moduleId));
    const all = testModules.flatMap((module) => [...module.children.allTests()]);
    const failed = all.find((one) => one.result().state === 'failed');
    if (name !== undefined && !all.some((one) => one.name.startsWith(name)))
      throw new Error(`${file} has no test ${name}`);
    return (
      failed?.name ??
      testModules.flatMap((module) => module.errors())[0]?.message ??
      (unhandledErrors[0] ? 'unhandled error' : undefined)
    );
  }

  close(): Promise<void> {
    return this.#vitest.close();
  }
}
