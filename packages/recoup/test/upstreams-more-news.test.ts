// What else decides what is news: how old an answer is by the caller's machine.
import { expect } from 'vitest';
import { MINUTE, poolOf, SECOND } from './support/pools.ts';
import { staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

onEvery('how old an answer is goes by the clock that the handle was given, and by nothing else', async (s) => {
  const { names } = await poolOf(s, 1);
  let machine = Date.parse('2001-02-03T04:05:06Z');
  const recoup = await s.replica({ now: () => machine });
  const start = await s.stopClock();
  const receivedAt = new Date(machine);
  const answer = { status: 429, headers: { 'retry-after': '60' }, receivedAt };
  const report = () => recoup.upstreams.report({ upstream: names[0]!, answer });
  expect((await report()).until).toEqual(new Date(start + MINUTE));
  // Ten seconds later on the machine, and none in the database: ten of the sixty are over.
  machine += 10 * SECOND;
  await s.db.advance(2 * MINUTE);
  expect((await report()).until).toEqual(new Date(start + 2 * MINUTE + 50 * SECOND));
  const note = (observedAt: Date, used: number) =>
    recoup.upstreams.note({ upstream: names[0]!, observedAt, snapshots: [{ name: 'week', used }] });
  await note(new Date(machine), 0.5);
  const older = new Date(machine - SECOND);
  expect(await note(older, 0.1)).toMatchObject({ outcome: 'duplicate' });
  const [window] = await recoup.upstreams.snapshots(names[0]!);
  expect(window).toMatchObject({ used: 0.5, observedAt: new Date(start + 2 * MINUTE) });
});

onFirst('a clock that is no function is refused', async (s) => {
  await expect(s.replica({ now: 5 as never })).rejects.toMatchObject({ code: 'invalid', details: { field: 'now' } });
});
