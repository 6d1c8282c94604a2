// Builds the packages after an install in a clone; where TypeScript is not installed (npm ci --omit=dev) it does nothing.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The program of a package; null where the package is not installed. */
function programOf(name, path) {
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), path);
  } catch {
    return null;
  }
}

const tsc = programOf('typescript', 'bin/tsc');
const vite = programOf('vite', 'bin/vite.js');
const react = programOf('@vitejs/plugin-react', '');
if (tsc === null || vite === null || react === null) process.exit(0);
for (const [program, ...args] of [
  [tsc, '-b', 'packages/recoup', 'packages/server', 'packages/client'],
  [vite, 'build', 'packages/console'],
]) {
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
