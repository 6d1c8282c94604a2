// Leases under many hands: one lease is reported once, also by two who disagree; and a crowd that selects and reports comes to an end.
import { expect } from 'vitest';
import type { Recoup, Reported } from '../src/index.ts';
import { tally, times } from './support/look.ts';
import { MINUTE, poolOf, soft, use } from './support/pools.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();

const openBlock = async (s: Stage, upstream: string) => {
  const [row] = await s.db.query(
    `select id::int, step::int from recoup.blocks where subject_id = $1 and closed_at is null`,
    [upstream],
  );
  return row as { id: number; step: number } | undefined;
};

// Before the others: here the clock runs.
onEvery('96 callers of two handles on five upstreams: all end, no call fails, and every slot is free', async (s) => {
  const { pool, names } = await poolOf(s, 5, { maxConcurrency: 4 });
  const handles = [s.recoup, await s.replica()];
  const answers: string[] = [];
  // Nobody reports before everybody was answered once: whoever comes behind the last slot has to come again.
  let answered = 0;
  let all!: () => void;
  const everybody = new Promise<void>((done) => {
    all = done;
  });
  async function caller(recoup: Recoup, index: number) {
    for (let round = 0; round < 25; ) {
      const { upstream, lease, outcome, retryAfterMs } = await recoup.upstreams.select({ pool });
      answers.push(outcome);
      answered += 1;
      if (answered === 96) all();
      if (round === 0) await everybody;
      if (upstream === null) {
        expect(retryAfterMs).toBeGreaterThan(0);
        // Who gets none comes back before he is told to: the crowd stays as large as it is.
        await new Promise((done) => setTimeout(done, 20 + (index % 30)));
        continue;
      }
      round++;
      // A failure now and then, of what is over at once: a trial follows.
      const fails = (index + round) % 40 === 0;
      const said = fails ? { success: false, block: { ...soft, forMs: 1 } } : { success: true };
      answers.push((await recoup.upstreams.report({ upstream, lease: lease!, ...said })).outcome);
    }
  }
  await Promise.all(times(96, (index) => caller(handles[index % 2]!, index)));
  const { selected, none = 0, noted = 0, blocked = 0, ...others } = tally(answers);
  expect(selected).toBe(96 * 25);
  expect(noted).toBeGreaterThan(0);
  expect(blocked).toBeGreaterThan(0);
  expect(none).toBeGreaterThanOrEqual(96 - 20);
  expect(Object.keys(others).filter((name) => !['extended', 'reopened', 'duplicate'].includes(name))).toEqual([]);
  expect(s.complaints).toEqual([]);
  expect(await s.db.query('select from recoup.upstream_leases where upstream_id = any($1)', [names])).toEqual([]);
  const explained = await s.recoup.upstreams.explain({ pool });
  expect(explained.map(({ slotsOut, maxConcurrency }) => [slotsOut, maxConcurrency])).toEqual(times(5, () => [0, 4]));
});

onEvery(
  'two reports under one lease at once, a success and a failure: one is heard, the other is a duplicate',
  async (s) => {
    const other = await s.replica();
    const { pool, names } = await poolOf(s, 1);
    const upstream = names[0]!;
    const heard: string[] = [];
    for (const round of times(40, (i) => i)) {
      const { lease } = await use(s, pool);
      // By two replicas, by one in one batch, and in either order.
      const [first, second] = round % 4 < 2 ? [s.recoup, other] : [other, other];
      const says = [{ success: true }, { success: false, block: soft }];
      if (round % 2 === 1) says.reverse();
      const reports = await Promise.all(
        [first!, second!].map((by, i) => by.upstreams.report({ upstream, lease: lease!, ...says[i]! })),
      );
      const of = (success: boolean) => reports[says.findIndex((one) => one.success === success)]!;
      const outcomes = [of(true).outcome, of(false).outcome].join(' ');
      expect(['noted duplicate', 'duplicate blocked'], `round ${round}`).toContain(outcomes);
      heard.push(outcomes);
      const block = await openBlock(s, upstream);
      expect(block !== undefined, outcomes).toBe(of(false).outcome === 'blocked');
      expect(await s.db.query('select from recoup.upstream_leases where upstream_id = $1', [upstream])).toEqual([]);
      // Whoever comes later is told that the lease was reported.
      expect((await s.recoup.upstreams.report({ upstream, lease: lease!, success: true })).outcome).toBe('duplicate');
      if (block) await s.recoup.upstreams.free(block.id);
    }
    // In one batch the first goes first, so that both were heard at times.
    expect(Object.keys(tally(heard)).sort()).toEqual(['duplicate blocked', 'noted duplicate']);
  },
);

onEvery('the step of a duplicate is that of the block, also where its time is up', async (s) => {
  const { names } = await poolOf(s, 1);
  const upstream = names[0]!;
  const failed = (more: object = {}): Promise<Reported> =>
    s.recoup.upstreams.report({ upstream, success: false, block: soft, ...more });
  const late = { elapsedMs: 30 * MINUTE };
  const steps: (number | null)[] = [];
  for (const step of [1, 2, 3]) {
    const first = await failed();
    expect([first.outcome, first.step]).toEqual([step === 1 ? 'blocked' : 'reopened', step]);
    for (const wait of [0, 6 * MINUTE]) {
      await s.db.advance(wait);
      const again = await failed(late);
      expect(again).toMatchObject({ outcome: 'duplicate', block: first.block, step });
      expect(again.blocks).toMatchObject([{ outcome: 'duplicate', block: first.block, step }]);
      expect((await openBlock(s, upstream))!.step).toBe(step);
      steps.push(again.step);
    }
  }
  expect(steps).toEqual([1, 1, 2, 2, 3, 3]);
});

onEvery('the books are right', booksAreRight);
