// How the tests run: against TypeScript sources, on one embedded PostgreSQL that is started once for the whole run.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // As Node resolves: without the condition "module", which is for bundlers.
  ssr: { resolve: { conditions: ['recoup-source', 'node', 'development|production'] } },
  resolve: { conditions: ['recoup-source', 'node', 'development|production'] },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'examples/**/*.test.ts', 'tools/**/*.test.ts', 'proof/**/*.test.ts'],
    globalSetup: ['packages/server/test/global-setup.ts'],
    reporters: ['default', './tools/plain-reporter.ts'],
    // Generous: a test that hangs must end, a slow machine must not fail one.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
