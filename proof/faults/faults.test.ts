// The short form of `npm run faults`: every kind of fault at least once, the audit, both controls; and Ctrl-C leaves nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { clean } from './clients.ts';
import { FAULTS } from './injector.ts';
import { run } from './run.ts';

test('under every kind of fault nothing that was acknowledged is lost, nothing is there twice, and both controls fail', async () => {
  const report = await run({ seconds: 5, seed: 7, say: () => {}, signal: new AbortController().signal });
  const { ours, withoutKeys, asynchronous, crashes } = report;
  expect(crashes).toEqual([]);
  // The findings first: they say what is wrong.
  expect(ours).toMatchObject({ surprises: [], doubts: { unresolved: 0 } });
  for (const name of ['lost', 'doubled', 'wrong', 'foreign', 'unended', 'problems'] as const)
    expect([name, ours.audit[name]]).toEqual([name, { count: 0, examples: [] }]);
  expect(clean(ours)).toBe(true);
  expect(report.attempts.twice).toEqual({ count: 0, examples: [] });
  expect(report.attempts.begun).toBeGreaterThan(0);
  const none = { count: 0, examples: [] };
  expect(report.uses).toMatchObject({ lost: none, kept: none });
  expect(report.uses.acknowledged).toBeGreaterThan(0);
  expect(report.uses.blocks).toBeGreaterThan(0);
  expect(ours.audit.acknowledged).toBeGreaterThan(50);
  expect(ours.doubts.hadBeenDone).toBeGreaterThan(0);
  expect(ours.doubts.hadNotBeenDone).toBeGreaterThan(0);
  const missing = FAULTS.filter((fault) => report.faults[fault] === 0);
  expect(missing.length).toBe(report.notInjected.length);
  expect(withoutKeys.audit.doubled.count).toBeGreaterThan(0);
  expect(asynchronous.audit.lost.count).toBeGreaterThan(0);
  expect(report.ok).toBe(true);
});

/** Processes that were started with this folder for temporary files: the run's own, and all that it started. */
function processesWith(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TMPDIR=${folder}`);
    } catch {
      return false;
    }
  });
}

test.runIf(process.platform === 'linux')('stopped by Ctrl-C it leaves no process and no folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'recoup-faults-test-'));
  chmodSync(folder, 0o755);
  const main = join(import.meta.dirname, 'main.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', '-C', 'recoup-source', main], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stderr! })) if (/at work/.test(line)) break;
  expect(processesWith(folder).length).toBeGreaterThan(8);
  child.kill('SIGINT');
  expect((await ended)[0]).toBe(130);
  expect(processesWith(folder)).toEqual([]);
  // What tsx caches is its own.
  expect(readdirSync(folder).filter((name) => !name.startsWith('tsx-'))).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});
