// What else decides what is news: how old an answer is by the caller's machine, what a request shared when it was sent, and what stands where a part is refused.
import { expect } from 'vitest';
import type { BlockFacts } from '../src/index.ts';
import { book, daily, limited, look, used } from './support/limits.ts';
import { refusal } from './support/look.ts';
import { failing, HOUR, MINUTE, poolOf, SECOND, soft } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

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

onEvery(
  'what was heard last counts where the clock is set back: a success that began after it ends the block',
  async (s) => {
    const { names } = await poolOf(s, 1);
    const report = (more: object) => s.recoup.upstreams.report({ upstream: names[0]!, success: true, ...more });
    const failure = { success: false, block: soft };
    await report(failure);
    await s.db.advance(MINUTE);
    expect(await report({})).toMatchObject({ closed: 0 });
    await s.db.advance(-2 * SECOND);
    expect(await report({ ...failure, elapsedMs: 40 * SECOND })).toMatchObject({ outcome: 'reopened' });
    await s.db.advance(SECOND);
    expect(await report({})).toMatchObject({ closed: 1 });
  },
);

/** The open blocks on a subject: its trials and its step. */
const blocksOn = (s: Stage, subject: string) =>
  s.db.query(
    `select trials, step, closed_at is null as open from recoup.blocks where subject_type || ':' || subject_id = $1 order by id`,
    [subject],
  );

onEvery('a trial counts for the group and the route of its lease, wherever its upstream is by then', async (s) => {
  for (const subject of ['quota_group', 'route'] as const) {
    for (const success of [true, false]) {
      const [old, other] = [newId(subject), newId(subject)];
      const to = (name: string) => (subject === 'route' ? { route: name } : { quotaGroup: name });
      const on = (name: string) => `${subject}:${name}`;
      const block: BlockFacts = { ...soft, subject };
      const [{ pool, names }, away] = [await poolOf(s, 1, to(old)), await poolOf(s, 1, to(other))];
      for (const upstream of [names[0]!, away.names[0]!])
        await s.recoup.upstreams.report({ upstream, success: false, block });
      await s.db.advance(MINUTE);
      const { lease } = await s.recoup.upstreams.select({ pool });
      await s.recoup.upstreams.change(names[0]!, to(other));
      await s.db.advance(SECOND);
      await s.recoup.upstreams.report({ upstream: names[0]!, lease: lease!, success, ...(success ? {} : { block }) });
      expect(await blocksOn(s, on(old))).toEqual([{ trials: success ? 2 : 1, step: success ? 1 : 2, open: true }]);
      expect(await blocksOn(s, on(other))).toEqual([{ trials: 1, step: 1, open: true }]);
    }
  }
});

onEvery('what was used under a lease, and what its answer says of a quota, is of the group of the lease', async (s) => {
  const [old, other] = [newId('group'), newId('group')];
  const { pool, names } = await poolOf(s, 1, { provider: 'gemini', quotaGroup: old });
  const limits = [old, other].map((quotaGroup) => ({ limit: newId('limit'), quotaGroup }));
  for (const limit of limits) await s.recoup.upstreams.limits.set({ ...limit, unit: 'requests', amount: 5, ...daily });
  const { lease } = await s.recoup.upstreams.select({ pool });
  await s.recoup.upstreams.change(names[0]!, { quotaGroup: other });
  const answer = { status: 429, body: { error: { status: 'RESOURCE_EXHAUSTED', message: 'Quota exceeded.' } } };
  const reported = await s.recoup.upstreams.report({ upstream: names[0]!, lease: lease!, answer });
  expect(reported).toMatchObject({ use: 'booked', outcome: 'blocked' });
  expect([await used(s, limits[0]!.limit), await used(s, limits[1]!.limit)]).toEqual([1, 0]);
  const [block] = await s.db.query('select subject_type, subject_id from recoup.blocks where id = $1', [
    reported.block,
  ]);
  expect(block).toEqual({ subject_type: 'quota_group', subject_id: old });
});

/** Holds a row as a transaction of somebody else would. */
async function holding(s: Stage, table: string, id: string, work: () => Promise<void>) {
  const client = await s.client();
  await client.query('begin');
  await client.query(`select from recoup.${table} where id = $1 for update`, [id]);
  await work();
  await client.query('rollback');
}

onEvery(
  'a report or a release that is refused as busy says that its use is booked; said again, it counts once',
  async (s) => {
    const { pool, upstream, limit } = await limited(s, 100);
    const recoup = await s.replica({ lockTimeoutMs: 150 });
    const report = { upstream, success: false, block: soft, key: newId('key'), use: { requests: 3 } };
    await holding(s, 'upstreams', upstream, async () => {
      const refused = await refusal(recoup.upstreams.report(report));
      expect(refused).toMatchObject({ code: 'upstream_busy', retryable: true, details: { upstream, use: 'booked' } });
      expect(refused.message).toContain('its use is booked');
    });
    expect(await used(s, limit)).toBe(3);
    expect(await recoup.upstreams.report(report)).toMatchObject({ outcome: 'blocked', use: 'duplicate' });
    const { block } = await recoup.upstreams.report(report);
    await s.recoup.upstreams.free(block!);
    const { lease } = await s.recoup.upstreams.select({ pool });
    const release = () => recoup.upstreams.release(lease!, { use: { requests: 4 } });
    await holding(s, 'upstream_leases', lease!, async () => {
      expect(await refusal(release())).toMatchObject({ retryable: true, details: { use: 'booked' } });
    });
    expect(await release()).toEqual({ outcome: 'released' });
    expect(await used(s, limit)).toBe(7);
  },
);

onFirst('in a transaction of the caller a busy report leaves nothing behind, and claims nothing', async (s) => {
  const { upstream, limit } = await limited(s, 100);
  const client = await s.client();
  await client.query("set lock_timeout = '150ms'");
  await client.query('begin');
  const report = { upstream, success: false, block: soft, key: 'k', use: { requests: 3 } };
  await holding(s, 'upstreams', upstream, async () => {
    const refused = await refusal(s.recoup.using(client).upstreams.report(report));
    expect([refused.code, refused.details.use]).toEqual(['transaction_conflict', undefined]);
  });
  await client.query('rollback');
  expect(await used(s, limit)).toBe(0);
});

onEvery('a clock that is set back over the end of a window leaves nobody apart who has room', async (s) => {
  const next = {
    sweep: (upstream: string) => s.recoup.sweep().then(() => upstream),
    use: (upstream: string) => book(s, upstream, 1),
    nothing: async (upstream: string) => upstream,
  };
  for (const [by, begin] of Object.entries(next)) {
    await s.db.setClock('2026-05-05T23:00:00Z');
    const { pool, upstream, limit } = await limited(s, 2);
    await book(s, upstream, 2);
    expect(await s.recoup.upstreams.select({ pool })).toMatchObject({ outcome: 'none' });
    await s.db.advance(HOUR + MINUTE);
    await begin(upstream);
    await s.db.advance(-HOUR);
    const { problems } = await s.recoup.verify({ testClock: true });
    expect([by, problems]).toEqual([by, []]);
    // What was begun is begun; a window that nobody ended is not over yet, and still full.
    const room = by !== 'nothing';
    expect([by, await failing(s, upstream)]).toEqual([by, room ? [] : ['quota']]);
    expect(await s.recoup.upstreams.select({ pool })).toMatchObject({ outcome: room ? 'selected' : 'none' });
    expect((await look(s, limit)).used).toBe({ sweep: 0, use: 1, nothing: 2 }[by]);
  }
});

onEvery('the books are right', booksAreRight);
