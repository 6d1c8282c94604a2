// Provider-wide trouble: which blocks count towards it, which one stands for it already, and whose rows it writes.
import { expect } from 'vitest';
import type { BlockFacts } from '../src/index.ts';
import { blockProvider } from '../src/upstreams/provider.ts';
import { asked, outcomes } from './support/asked.ts';
import { MINUTE, poolOf, SECOND, soft, use } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const broken: BlockFacts = { kind: 'server_error', policy: 'auto', source: 'backoff' };
type Three = { pool: string; names: [string, string, string, string] };

const block = async (s: Stage, upstream: string, facts: BlockFacts = broken, more: object = {}) =>
  (await s.recoup.upstreams.report({ upstream, success: false, block: facts, ...more })).block!;
/** The open blocks of a provider that stand for its upstreams: how many steps high each is. */
const standing = async (s: Stage, provider: string) =>
  (
    await s.db.query(
      `select step from recoup.blocks where closed_at is null and subject_type = 'provider' and subject_id = $1 and scope = ''
       and kind = 'server_error' and source = 'backoff'`,
      [provider],
    )
  ).map(({ step }) => step);
/** Another pool's upstream whose group or provider has a name of ours. */
async function stranger(s: Stage, of: { quotaGroup?: string; provider?: string }): Promise<string> {
  const upstream = newId('up');
  await s.recoup.upstreams.register({ upstream, pool: newId('pool'), provider: newId('provider'), ...of });
  return upstream;
}

/** What is no third failure of an upstream of the provider. */
const NO_THIRD: Readonly<Record<string, (s: Stage, of: Three) => Promise<unknown>>> = {
  'another kind': (s, { names }) => block(s, names[2], { ...broken, kind: 'rate_limited' }),
  'of one model': (s, { names }) => block(s, names[2], { ...broken, scope: 'model:m' }),
  'one that a person ends': (s, { names }) => block(s, names[2], { ...broken, policy: 'manual' }),
  'one that is over': async (s, { names }) => s.recoup.upstreams.free(await block(s, names[2])),
  'one of a minute ago': async (s, { names }) => {
    await block(s, names[2]);
    await s.db.advance(MINUTE);
  },
  'of another provider': async (s) => block(s, await stranger(s, {})),
  'of a group of its name': async (s, { names }) =>
    block(s, await stranger(s, { quotaGroup: names[2] }), { ...broken, subject: 'quota_group' }),
};

onEvery('two that fail and what is no third are not the provider; three are', async (s) => {
  await s.stopClock();
  for (const [name, make] of Object.entries(NO_THIRD)) {
    const of = (await poolOf(s, 4)) as Three;
    await make(s, of);
    await block(s, of.names[0]);
    await block(s, of.names[1]);
    expect([name, outcomes(await asked(s, blockProvider, { provider: of.pool }))]).toEqual([name, ['none']]);
    expect([name, await standing(s, of.pool)]).toEqual([name, []]);
    await block(s, of.names[3]);
    expect([name, await standing(s, of.pool)]).toEqual([name, [1]]);
    expect([name, outcomes(await asked(s, blockProvider, { provider: newId('nobody') }))]).toEqual([name, ['none']]);
  }
});

/** What does not stand for the upstreams of the provider. */
const NO_STANDING: Readonly<Record<string, (s: Stage, of: Three) => Promise<unknown>>> = {
  'another kind': (s, { names }) => block(s, names[3], { ...broken, kind: 'overloaded', subject: 'provider' }),
  'of one model': (s, { names }) => block(s, names[3], { ...broken, subject: 'provider', scope: 'model:m' }),
  'of another source': (s, { names }) =>
    block(s, names[3], { ...broken, subject: 'provider', source: 'retry_after', forMs: MINUTE }),
  'one that is over': async (s, { names }) => {
    await s.recoup.upstreams.free(await block(s, names[3], { ...broken, subject: 'provider' }));
    await s.db.advance(1);
  },
  'of another provider': async (s) => block(s, await stranger(s, {}), { ...broken, subject: 'provider' }),
  'of a group of its name': async (s, { pool }) =>
    block(s, await stranger(s, { quotaGroup: pool }), { ...broken, subject: 'quota_group' }),
};

onEvery('what is about something else stands for nobody, and is left as it is', async (s) => {
  // Who is used of other providers is none of its upstreams.
  const others = await poolOf(s, 5);
  for (let i = 0; i < 5; i++) await use(s, others.pool);
  for (const [name, make] of Object.entries(NO_STANDING)) {
    const of = (await poolOf(s, 4)) as Three;
    await make(s, of);
    for (const upstream of of.names.slice(0, 3)) await block(s, upstream);
    expect([name, await standing(s, of.pool)]).toEqual([name, [1]]);
  }
});

onEvery('a failure that began before the block was due is no trial of it, however late it is told', async (s) => {
  await s.stopClock();
  const { pool, names } = (await poolOf(s, 4)) as Three;
  for (const upstream of names.slice(0, 3)) await block(s, upstream);
  await s.db.advance(31 * SECOND);
  await block(s, names[3], broken, { elapsedMs: 20 * SECOND });
  expect(await standing(s, pool)).toEqual([1]);
  await block(s, names[0]);
  expect(await standing(s, pool)).toEqual([2]);
});

onEvery('the rows of those whose blocks end say what is left of them; all others stay as they are', async (s) => {
  await s.stopClock();
  const { pool, names } = (await poolOf(s, 4)) as Three;
  // One of the provider's own name.
  await s.recoup.upstreams.register({ upstream: pool, pool, provider: pool });
  const row = async (upstream: string) =>
    (await s.db.query('select u::text, blocked_until from recoup.upstreams u where id = $1', [upstream]))[0]!;
  const far = { ...soft, source: 'retry_after', forMs: 50 * MINUTE } as const;
  await block(s, names[3], far);
  await block(s, names[0], { ...far, scope: 'model:m' });
  await s.recoup.upstreams.free(await block(s, names[1], far));
  const before = await row(names[3]);
  for (const upstream of [names[0], names[1], pool]) await block(s, upstream);
  expect(await standing(s, pool)).toEqual([1]);
  for (const upstream of [names[0], names[1], pool]) expect((await row(upstream)).blocked_until).toBeNull();
  expect(await row(names[3])).toEqual(before);
});

onEvery('after all of it the books are right', booksAreRight);
