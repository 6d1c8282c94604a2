// SIGTERM to a process that works: what runs finishes or is given back, and nothing of it is a failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { ledger, stateOf } from './support/look.ts';
import { booksAreRight, newId, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';

const { onEvery } = staging();
const program = fileURLToPath(new URL('./support/draining-process.ts', import.meta.url));

onEvery(
  'three jobs run as the signal comes: done or released, no failure, no refund, nothing leased after it',
  async (s) => {
    const [queue, wallet] = [newId('queue'), await s.wallet(121)];
    const jobs = ['finishes', 'heeds', 'hears nothing'].map((job) => ({ wallet, job }));
    for (const job of jobs) await s.recoup.jobs.submit({ ...job, queue, price: 40 });
    const child = spawn(process.execPath, ['--import', 'tsx', program, s.db.url, queue], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    const ended = once(child, 'exit');
    await until(() => lines.length === 3);
    child.kill('SIGTERM');
    await until(async () => (await stateOf(s, jobs[0]!)).state === 'succeeded');
    await s.recoup.jobs.submit({ wallet, job: 'after the signal', queue, price: 1 });
    expect(await ended).toEqual([0, null]);
    expect(lines.slice(3)).toEqual(['closed']);
    const states = await Promise.all(jobs.map((job) => stateOf(s, job)));
    expect(states.map(({ state, failures, releases }) => [state, failures, releases])).toEqual([
      ['succeeded', 0, 0],
      ['queued', 0, 1],
      ['queued', 0, 1],
    ]);
    expect(await stateOf(s, { wallet, job: 'after the signal' })).toMatchObject({ state: 'queued', attempt: 0 });
    expect(await ledger(s, wallet)).toEqual(['charge -40', 'charge -40', 'charge -40', 'charge -1']);
    expect(await s.recoup.jobs.lease({ queue, count: 9 })).toHaveLength(3);
  },
);

onEvery('the books are right', booksAreRight);
