// Upstreams that have used up a limit of their own stand apart, and are back as soon as there is room: by time, by hand, whoever rivals.
import { expect } from 'vitest';
import { book, daily, limited } from './support/limits.ts';
import { times } from './support/look.ts';
import { poolOf, soft, use } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();

const apart = async (s: Stage, upstream: string) => {
  const [row] = await s.db.query(
    `select (quota_until > recoup.clock()) is true as apart from recoup.upstreams where id = $1`,
    [upstream],
  );
  return row!.apart;
};
const outcome = async (s: Stage, pool: string) => (await use(s, pool)).outcome;

onEvery('who fills it stands apart; a reset, a higher amount, an end and midnight bring it back at once', async (s) => {
  await s.db.setClock('2026-05-05T12:00:00Z');
  const { pool, upstream, limit } = await limited(s, 2);
  const { limits } = s.recoup.upstreams;
  const set = (amount: number) => limits.set({ limit, upstream, unit: 'requests', amount, ...daily });
  const fill = async () => {
    await book(s, upstream, 100);
    expect([await apart(s, upstream), await outcome(s, pool)]).toEqual([true, 'none']);
  };
  const back = async () => expect([await apart(s, upstream), await outcome(s, pool)]).toEqual([false, 'selected']);
  await book(s, upstream, 1);
  await back();
  await fill();
  await limits.reset(limit);
  await back();
  await fill();
  await set(1000);
  await back();
  await set(2);
  await fill();
  await limits.end(limit);
  await back();
  await set(2);
  // Not marked, and out all the same: the limit decides.
  expect([await apart(s, upstream), await outcome(s, pool)]).toEqual([false, 'none']);
  await fill();
  await s.db.setClock('2026-05-06T00:00:00Z');
  await back();
  await fill();
  // A block and its end leave it where it is.
  const { block } = await s.recoup.upstreams.report({ upstream, success: false, block: soft });
  await s.recoup.upstreams.free(block!);
  expect([await apart(s, upstream), await outcome(s, pool)]).toEqual([true, 'none']);
  await limits.reset(limit);
  await back();
});

onEvery(
  'what is shared, and what is of one model, sets nobody apart; of two limits the later end counts',
  async (s) => {
    await s.db.setClock('2026-05-05T12:00:00Z');
    const { names } = await poolOf(s, 2);
    const [one, two] = names as [string, string];
    const { limits } = s.recoup.upstreams;
    const requests = { unit: 'requests', amount: 1 };
    await limits.set({ limit: newId('limit'), provider: one.split('/')[0]!, ...requests, ...daily });
    await limits.set({ limit: newId('limit'), upstream: one, scope: 'model:m', ...requests, ...daily });
    await s.recoup.upstreams.report({ upstream: one, success: true, key: newId('key'), model: 'm' });
    expect(await apart(s, one)).toBe(false);
    await limits.set({ limit: newId('limit'), upstream: two, ...requests, ...daily });
    await limits.set({ limit: newId('limit'), upstream: two, ...requests, kind: 'monthly', zone: 'UTC', day: 1 });
    await book(s, two);
    const [row] = await s.db.query('select quota_until::text as until from recoup.upstreams where id = $1', [two]);
    expect(new Date(String(row!.until)).toISOString()).toBe('2026-06-01T00:00:00.000Z');
  },
);

onEvery(
  'a limit is filled, reset and raised at once: in the end it is out if it is used up, and only then',
  async (s) => {
    await s.db.setClock('2026-05-05T12:00:00Z');
    const replicas = await Promise.all(times(4, () => s.replica()));
    for (let round = 0; round < 15; round++) {
      const { pool, upstream, limit } = await limited(s, 5);
      const calls = times(32, (i) => {
        const recoup = replicas[i % 4]!;
        if (i % 8 === 7) return recoup.upstreams.limits.reset(limit);
        if (i % 16 === 5)
          return recoup.upstreams.limits.set({
            limit,
            upstream,
            unit: 'requests',
            amount: 5 + (round % 2) * i,
            ...daily,
          });
        if (i % 8 === 3) return recoup.upstreams.select({ pool });
        return book(s, upstream, 2, recoup);
      });
      await Promise.all(calls);
      expect((await s.recoup.verify({ testClock: true })).problems).toEqual([]);
      const [now] = await s.recoup.upstreams.limits.list({ limit });
      expect([round, await outcome(s, pool)]).toEqual([round, now!.used >= now!.amount ? 'none' : 'selected']);
    }
  },
);

onEvery('verify names one that stands apart for nothing, or too long', async (s) => {
  await s.db.setClock('2026-05-05T12:00:00Z');
  const [free, full] = [await limited(s, 5), await limited(s, 5)];
  await book(s, full.upstream, 5);
  for (const { upstream } of [free, full]) {
    const [before] = await s.db.query('select quota_until::text as until from recoup.upstreams where id = $1', [
      upstream,
    ]);
    await s.db.query(`update recoup.upstreams set quota_until = '2026-05-07T00:00:00Z' where id = $1`, [upstream]);
    const { problems } = await s.recoup.verify({ testClock: true });
    expect(problems).toMatchObject([{ check: 'upstreams.quota_until', detail: expect.stringContaining(upstream) }]);
    await s.db.query('update recoup.upstreams set quota_until = $2 where id = $1', [upstream, before!.until]);
  }
});

onEvery('after all of it the books are right', booksAreRight);
