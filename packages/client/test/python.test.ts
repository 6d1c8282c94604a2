// The Python client: its own tests, run by python3 against the real service and a proxy that cuts answers off.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import type { OpenOptions } from 'recoup';
import { expect, test } from 'vitest';
import { Stand } from './support/stand.ts';

const folder = resolve(import.meta.dirname, '../../../clients/python');
const run = promisify(execFile);
const python = process.env.PYTHON ?? 'python3';

/** What is missing is said, not passed over. */
async function needPython(): Promise<void> {
  const asked = run(python, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])']);
  const version = await asked.then(
    ({ stdout }) => stdout.trim(),
    () => 'none',
  );
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major === 3 && minor >= 9) return;
  throw new Error(
    `The tests of clients/python need Python 3.9 or newer as ${python} (found: ${version}). Install python3, or name one with PYTHON=/path/to/python3.`,
  );
}

test('the tests of the Python client pass', async () => {
  await needPython();
  const stand = await Stand.start({ open: { sweep: true } as OpenOptions });
  const { proxy } = stand;
  proxy.cutNext('PUT /v1/wallets/cut-1/jobs/j ', 'answer', 2);
  proxy.cutNext('POST /v1/queues/cut-queue/leases ', 'answer');
  proxy.cutNext('POST /v1/keys ', 'answer');
  proxy.cutNext('POST /v1/queues/cut-worker/leases ', 'answer');
  proxy.cutNext('POST /v1/wallets/cut-2/jobs/j/succeed ', 'answer', 2);
  const env = {
    ...process.env,
    PYTHONPATH: `${folder}/src`,
    PYTHONDONTWRITEBYTECODE: '1',
    RECOUP_URL: stand.api.service.url,
    RECOUP_FAR: proxy.url,
  };
  const ran = await run(python, ['-W', 'error', '-m', 'unittest', 'discover', '-t', '.', '-s', 'tests'], {
    cwd: folder,
    env,
    timeout: 240_000,
  }).catch((error: { stdout: string; stderr: string }) => error);
  expect(ran.stderr).toMatch(/^Ran (?:[3-9]\d|\d{3,}) tests in [\s\S]*^OK$/m);
  expect(proxy.cut).toBe(7);
  expect(await stand.close()).toEqual([]);
});
