// Settings and credentials of upstreams: what a statement decides of two in one, and of what changed behind its snapshot.
import { expect } from 'vitest';
import { replaceCredential } from '../src/upstreams/credential.ts';
import { registerUpstream } from '../src/upstreams/register.ts';
import { asked, behind, outcomes } from './support/asked.ts';
import { answer } from './support/look.ts';
import { poolOf, soft } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const newer = (upstream: string) => `update recoup.upstreams set used_at = recoup.clock() where id = '${upstream}'`;
const revoked = { kind: 'auth_revoked', policy: 'manual' } as const;
const closedAs = async (s: Stage, block: number) =>
  (await s.db.query('select closed_as from recoup.blocks where id = $1', [block]))[0]!.closed_as;

onEvery(
  'two that register or change one upstream in one statement: the second in the light of the first',
  async (s) => {
    const [upstream, pool] = [newId('up'), newId('pool')];
    const said = (weight: number) => ({ upstream_id: upstream, pool, provider: 'p', weight });
    expect(outcomes(await asked(s, registerUpstream, said(1), said(2)))).toEqual(['registered', 'again']);
    expect(outcomes(await asked(s, registerUpstream, said(3), said(4)))).toEqual(['changed', 'again']);
    expect(outcomes(await asked(s, registerUpstream, said(3)))).toEqual(['duplicate']);
    const ref = (credential_ref: string) => ({ upstream_id: upstream, credential_ref });
    expect(outcomes(await asked(s, replaceCredential, ref('v/1'), ref('v/2')))).toEqual(['replaced', 'again']);
    expect(outcomes(await asked(s, replaceCredential, ref('v/1'), { upstream_id: 'none' }))).toEqual([
      'duplicate',
      'no_upstream',
    ]);
  },
);

onEvery(
  'of two upstreams the one that is newer than the snapshot is looked at again; one just made, too',
  async (s) => {
    const { names } = await poolOf(s, 2);
    const [one, two] = names as [string, string];
    const weights = names.map((upstream_id) => ({ upstream_id, weight: 7 }));
    expect(await behind(s, registerUpstream, weights, newer(two))).toEqual(['changed', 'again']);
    expect(outcomes(await asked(s, registerUpstream, ...weights))).toEqual(['duplicate', 'changed']);
    const refs = names.map((upstream_id) => ({ upstream_id, credential_ref: 'v/2' }));
    expect(await behind(s, replaceCredential, refs, newer(two))).toEqual(['replaced', 'again']);
    expect(outcomes(await asked(s, replaceCredential, ...refs))).toEqual(['duplicate', 'replaced']);
    const upstream_id = newId('up');
    const making = `insert into recoup.upstreams (id, pool, provider, turn_at, registered_at, events)
    select '${upstream_id}', pool, provider, turn_at, registered_at, 1 from recoup.upstreams where id = '${one}'`;
    const event = `insert into recoup.upstream_events (upstream_id, number, type, at, settings)
    select '${upstream_id}', 1, 'registered', recoup.clock(), settings from recoup.upstream_events where upstream_id = '${one}' and number = 1`;
    const [pool] = await s.db.query('select pool, provider from recoup.upstreams where id = $1', [one]);
    const other = { upstream_id: `${upstream_id}/2`, ...(pool as { pool: string; provider: string }) };
    const inputs = [{ ...other, upstream_id }, other];
    expect(await behind(s, registerUpstream, inputs, `${making}; ${event}`)).toEqual(['again', 'registered']);
  },
);

onEvery('what is given is set, what may be none is taken away, and neither pool nor provider changes', async (s) => {
  const [upstream, pool, provider] = [newId('up'), newId('pool'), newId('provider')];
  await s.recoup.upstreams.register({ upstream, pool, provider, quotaGroup: 'g', maxConcurrency: 2 });
  const set = async () =>
    (
      await s.db.query('select quota_group, max_concurrency, weight from recoup.upstreams where id = $1', [upstream])
    )[0];
  await s.recoup.upstreams.change(upstream, { weight: 2 });
  expect(await set()).toEqual({ quota_group: 'g', max_concurrency: 2, weight: 2 });
  await s.recoup.upstreams.change(upstream, { quotaGroup: null });
  expect(await set()).toEqual({ quota_group: null, max_concurrency: 2, weight: 2 });
  await s.recoup.upstreams.change(upstream, { maxConcurrency: null });
  expect(await set()).toEqual({ quota_group: null, max_concurrency: null, weight: 2 });
  const { upstreams } = s.recoup;
  expect(await answer(upstreams.register({ upstream, pool: newId('pool'), provider }))).toBe('conflict');
  expect(await answer(upstreams.register({ upstream, pool, provider: newId('provider') }))).toBe('conflict');
  const half = [
    { upstream_id: 'nobody', pool },
    { upstream_id: 'no-one', provider },
  ];
  expect(outcomes(await asked(s, registerUpstream, ...half))).toEqual(['no_upstream', 'no_upstream']);
  await upstreams.change(upstream, { status: 'retired' });
  expect(await answer(upstreams.change(upstream, { weight: 3 }))).toBe('changed');
  expect(await answer(upstreams.change(upstream, { status: 'on' }))).toBe('upstream_retired');
  expect(await answer(upstreams.replaceCredential(upstream, { credentialRef: 'v/2' }))).toBe('upstream_retired');
});

onEvery('a new credential ends what was about the old one of that upstream, and nothing else', async (s) => {
  const { pool, names } = await poolOf(s, 2, { quotaGroup: newId('group') });
  const [upstream, other] = names as [string, string];
  const block = async (of: object, at = upstream) =>
    (await s.recoup.upstreams.report({ upstream: at, success: false, block: of as never })).block!;
  // A group of its name, whose blocks are not its own.
  const alike = newId('up');
  await s.recoup.upstreams.register({ upstream: alike, pool, provider: pool, quotaGroup: upstream });
  const about = [await block(revoked), await block({ ...revoked, kind: 'auth_expired', scope: 'model:m' })];
  const others = [
    await block({ kind: 'billing', policy: 'manual' }),
    await block({ ...soft, kind: 'auth_expired', policy: 'auto' }),
    await block({ ...revoked, subject: 'quota_group' }, alike),
    await block(revoked, other),
  ];
  expect(await s.recoup.upstreams.replaceCredential(upstream, {})).toMatchObject({ outcome: 'replaced', closed: 2 });
  expect(await Promise.all(about.map((id) => closedAs(s, id)))).toEqual(['credential', 'credential']);
  expect(await Promise.all(others.map((id) => closedAs(s, id)))).toEqual([null, null, null, null]);
  expect(await s.recoup.upstreams.replaceCredential(upstream, {})).toMatchObject({ outcome: 'duplicate', closed: 0 });
});

onEvery('after all of it the books are right', booksAreRight);
