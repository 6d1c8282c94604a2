// Builds the packages after an install in a clone; where TypeScript is not installed (npm ci --omit=dev) it does nothing.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
let tsc;
try {
  tsc = require.resolve('typescript/bin/tsc');
} catch {
  process.exit(0);
}
const run = spawnSync(process.execPath, [tsc, '-b', 'packages/recoup', 'packages/server', 'packages/client'], {
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
