// The sweep of upstreams: old leases go, blocks that nobody tried for a day close; by many replicas at once, each once.
import { expect } from 'vitest';
import type { BlockFacts } from '../src/index.ts';
import { times } from './support/look.ts';
import { failing, MINUTE, poolOf, SECOND, soft, types, use } from './support/pools.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const HOUR = 60 * MINUTE;
const leases = async (s: Stage, upstream: string) =>
  (await s.db.query('select id from recoup.upstream_leases where upstream_id = $1 order by id', [upstream])).map(
    ({ id }) => id,
  );

onEvery('a lease that lapsed more than an hour ago goes; one that is out, or lapsed just now, stays', async (s) => {
  const { pool, names } = await poolOf(s, 1);
  await s.recoup.upstreams.select({ pool, lease: 'a-old' });
  await s.recoup.upstreams.select({ pool, lease: 'b-long', leaseMs: 24 * HOUR });
  await s.db.advance(HOUR);
  await s.recoup.upstreams.select({ pool, lease: 'c-lapsed' });
  await s.db.advance(2 * MINUTE);
  await s.recoup.sweep();
  expect(await leases(s, names[0]!)).toEqual(['b-long', 'c-lapsed']);
});

onEvery(
  'a block that is half open for a day and was not tried closes as time; not before, and never a manual one',
  async (s) => {
    const { names } = await poolOf(s, 5);
    const [auto, snapshot, rolling, manual, tried] = names as [string, string, string, string, string];
    const block = (upstream: string, facts: BlockFacts) =>
      s.recoup.upstreams.report({ upstream, success: false, block: facts });
    await block(auto, { ...soft, subject: 'provider' });
    await block(snapshot, { kind: 'quota_exhausted_upstream', policy: 'snapshot', forMs: 30 * SECOND });
    await block(rolling, { kind: 'odd', scope: 'model:m' });
    await s.recoup.upstreams.block(manual, { reason: 'no' });
    await block(tried, soft);
    await s.db.advance(24 * HOUR);
    await s.recoup.sweep();
    expect(await types(s, snapshot)).toEqual(['opened', 'opened']);
    await s.recoup.upstreams.report({ upstream: tried, success: false, block: soft });
    await s.db.advance(31 * SECOND);
    const replicas = await Promise.all(times(4, () => s.replica()));
    await Promise.all(replicas.map((replica) => replica.sweep()));
    const ended = async (upstream: string) =>
      (await s.recoup.upstreams.history(upstream))
        .filter(({ type }) => type === 'closed')
        .map(({ subject, closedAs }) => `${subject.split(':')[0]} ${closedAs}`);
    expect(await ended(snapshot)).toEqual(expect.arrayContaining(['provider time', 'upstream time']));
    expect(await ended(snapshot)).toHaveLength(2);
    expect(await ended(rolling)).toHaveLength(2);
    expect(await ended(manual)).toEqual(['provider time']);
    expect(await ended(tried)).toEqual(['provider time']);
    expect(await failing(s, manual)).toEqual(['blocked']);
  },
);

onEvery('a sweep passes over an upstream that somebody holds, and finds it again', async (s) => {
  const { pool, names } = await poolOf(s, 2);
  for (const upstream of names) await s.recoup.upstreams.report({ upstream, success: false, block: soft });
  await s.db.advance(25 * HOUR);
  const client = await s.client();
  await client.query('begin');
  await client.query('select from recoup.upstreams where id = $1 for update', [names[0]]);
  await s.recoup.sweep();
  expect(await Promise.all(names.map((name) => types(s, name)))).toEqual([['opened'], ['opened', 'closed']]);
  await client.query('rollback');
  await s.recoup.sweep();
  expect(await types(s, names[0]!)).toEqual(['opened', 'closed']);
  // Closed, not half open: no trial is asked for.
  expect((await Promise.all(times(6, () => use(s, pool)))).every(({ outcome }) => outcome === 'selected')).toBe(true);
});

onEvery('after all of it the books are right', booksAreRight);
