// Provider-wide trouble: many upstreams fail at once, one block on the provider stands for all of theirs.
import { expect } from 'vitest';
import type { BlockFacts, Recoup } from '../src/index.ts';
import { times } from './support/look.ts';
import { blockEvents, failing, MINUTE, now, poolOf, SECOND, soft, types, use } from './support/pools.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const broken: BlockFacts = { kind: 'server_error', policy: 'auto' };
const breaks = (s: Stage, upstream: string, recoup: Recoup = s.recoup) =>
  recoup.upstreams.report({ upstream, success: false, block: broken });

/** What is open on an upstream: `subject kind`. */
const open = async ({ recoup }: Stage, upstream: string) => {
  const [one] = await recoup.upstreams.explain({ upstream });
  return one!.failing.map(({ subject, kind }) => `${subject?.split(':')[0]} ${kind}`);
};

onEvery(
  'the third of five that fail within a minute: one block on the provider, their own close as superseded',
  async (s) => {
    const { pool, names } = await poolOf(s, 5);
    for (let i = 0; i < 5; i++) await use(s, pool);
    const reports = [];
    for (const upstream of names.slice(0, 3)) reports.push(await breaks(s, upstream));
    expect(reports.map(({ outcome }) => outcome)).toEqual(['blocked', 'blocked', 'blocked']);
    for (const upstream of names) expect(await open(s, upstream)).toEqual(['provider server_error']);
    const history = await blockEvents(s, names[0]!);
    const said = history.map(({ subject, type, closedAs }) =>
      `${subject.split(':')[0]} ${type} ${closedAs ?? ''}`.trim(),
    );
    expect(said.slice(0, 1)).toEqual(['upstream opened']);
    expect(said.slice(1).sort()).toEqual(['provider opened', 'upstream closed superseded']);
    // The answer names the block that is to be waited for.
    const [waiting] = await s.recoup.upstreams.explain({ upstream: names[4]! });
    expect(reports[2]).toMatchObject({ block: waiting!.failing[0]!.block, until: waiting!.failing[0]!.until, step: 1 });
    expect(reports[1]!.block).not.toBe(reports[2]!.block);
    expect((await use(s, pool)).outcome).toBe('none');
  },
);

onEvery(
  'three of eight in use are not half of them; two of two are not three; a rate limit is not an error of the server',
  async (s) => {
    const many = await poolOf(s, 8);
    for (let i = 0; i < 8; i++) await use(s, many.pool);
    for (const upstream of many.names.slice(0, 3)) await breaks(s, upstream);
    expect(await open(s, many.names[0]!)).toEqual(['upstream server_error']);
    expect(await open(s, many.names[7]!)).toEqual([]);
    // The fourth is.
    await breaks(s, many.names[3]!);
    expect(await open(s, many.names[7]!)).toEqual(['provider server_error']);
    const few = await poolOf(s, 2);
    for (const upstream of few.names) await breaks(s, upstream);
    expect(await open(s, few.names[0]!)).toEqual(['upstream server_error']);
    const limited = await poolOf(s, 4);
    for (const upstream of limited.names) await s.recoup.upstreams.report({ upstream, success: false, block: soft });
    expect(await open(s, limited.names[0]!)).toEqual(['upstream rate_limited']);
  },
);

onEvery('what was not used, or failed longer ago than a minute, does not count', async (s) => {
  const { pool, names } = await poolOf(s, 8);
  for (let i = 0; i < 8; i++) await use(s, pool);
  const scoped = { ...broken, scope: 'model:m' };
  await s.recoup.upstreams.report({ upstream: names[5]!, success: false, model: 'm', block: scoped });
  await breaks(s, names[0]!);
  await s.db.advance(MINUTE + SECOND);
  for (const upstream of names.slice(1, 3)) await breaks(s, upstream);
  expect(await open(s, names[7]!)).toEqual([]);
  await breaks(s, names[3]!);
  expect(await open(s, names[7]!)).toEqual(['provider server_error']);
  // The old one is left: it is over, and its own trial tells.
  expect(await types(s, names[0]!)).toEqual(['opened', 'opened']);
});

onEvery(
  'ten upstreams fail at the same moment, heard by five replicas: one block, one opening, no upstream is blamed',
  async (s) => {
    const { pool, names } = await poolOf(s, 10);
    for (let i = 0; i < 10; i++) await use(s, pool);
    const replicas = await Promise.all(times(5, () => s.replica()));
    await Promise.all(names.flatMap((upstream, i) => times(3, (n) => breaks(s, upstream, replicas[(i + n) % 5]))));
    const opened = await s.db.query(
      `select count(*)::int as count from recoup.blocks where subject_type = 'provider' and subject_id = $1`,
      [pool],
    );
    expect(opened).toEqual([{ count: 1 }]);
    for (const upstream of names) expect(await open(s, upstream)).toEqual(['provider server_error']);
  },
);

onEvery(
  'who comes late is superseded; a trial that fails opens it again one step higher; one that succeeds goes on to two',
  async (s) => {
    const { pool, names } = await poolOf(s, 4);
    const early = await use(s, pool);
    for (const upstream of names.filter((name) => name !== early.upstream)) await breaks(s, upstream);
    await s.recoup.upstreams.report({ upstream: early.upstream!, lease: early.lease!, success: false, block: broken });
    expect(await open(s, early.upstream!)).toEqual(['provider server_error']);
    for (const [step, seconds] of [60, 120].entries()) {
      await s.db.advance((step === 0 ? 31 : 61) * SECOND);
      const trial = await use(s, pool);
      expect((await use(s, pool)).outcome).toBe('none');
      const before = Date.parse(await now(s));
      const report = await s.recoup.upstreams.report({
        upstream: trial.upstream!,
        lease: trial.lease!,
        success: false,
        block: broken,
      });
      expect(report).toMatchObject({ step: step + 2 });
      expect(Math.round((report.until!.getTime() - before) / SECOND)).toBe(seconds);
      for (const upstream of names) expect(await open(s, upstream)).toEqual(['provider server_error']);
    }
    await s.db.advance(121 * SECOND);
    const trial = await use(s, pool);
    await s.recoup.upstreams.report({ upstream: trial.upstream!, lease: trial.lease!, success: true });
    const asked = await Promise.all(times(8, () => use(s, pool)));
    expect(asked.filter(({ outcome }) => outcome === 'selected')).toHaveLength(2);
  },
);

onEvery(
  'in a transaction of the caller it is part of it, and an upstream that somebody holds keeps its own',
  async (s) => {
    const { names } = await poolOf(s, 4);
    for (const upstream of names.slice(0, 2)) await breaks(s, upstream);
    const holder = await s.client();
    await holder.query('begin');
    await holder.query('select from recoup.upstreams where id = $1 for update', [names[0]]);
    const client = await s.client();
    await client.query('begin');
    await s.recoup.using(client).upstreams.report({ upstream: names[2]!, success: false, block: broken });
    expect(await failing(s, names[3]!)).toEqual([]);
    await client.query('commit');
    expect(await failing(s, names[3]!)).toEqual(['blocked']);
    expect(await open(s, names[0]!)).toEqual(
      expect.arrayContaining(['upstream server_error', 'provider server_error']),
    );
    await holder.query('rollback');
    // The next one that fails takes it along.
    await breaks(s, names[3]!);
    for (const upstream of names) expect(await open(s, upstream)).toEqual(['provider server_error']);
  },
);

onEvery('after all of it the books are right', booksAreRight);
