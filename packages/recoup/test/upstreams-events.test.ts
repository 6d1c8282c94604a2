// What happened to upstreams themselves, and what speaks against blocks that only a person ends: in the history, each once.
import { expect } from 'vitest';
import { answer, tally, times } from './support/look.ts';
import { blockEvents, failing, MINUTE, poolOf, SECOND, soft } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const manual = (kind: string, more = {}) => ({ kind, policy: 'manual', ...more }) as const;
const one = async (s: Stage) => (await poolOf(s, 1)).names[0]!;
const blocked = (s: Stage, upstream: string, block: object, more = {}) =>
  s.recoup.upstreams.report({ upstream, success: false, block: block as never, ...more });
const contradicted = async (s: Stage, upstream: string) =>
  (await blockEvents(s, upstream)).filter(({ type }) => type === 'contradicted').map(({ kind }) => kind);

onEvery(
  'registered, changed, off, another credential: one event each, with actor, reason and what was set',
  async (s) => {
    const [upstream, pool] = [newId('upstream'), newId('pool')];
    const { upstreams } = s.recoup;
    const register = { upstream, pool, provider: 'x', actor: 'deploy', reason: 'new account' };
    expect(await upstreams.register(register)).toEqual({ outcome: 'registered' });
    expect(await upstreams.register({ ...register, actor: 'again' })).toEqual({ outcome: 'duplicate' });
    await upstreams.change(upstream, { weight: 3, maxConcurrency: 5, actor: 'ann' });
    await upstreams.change(upstream, { weight: 3, actor: 'bob' });
    await upstreams.change(upstream, { status: 'off', actor: 'ann', reason: 'audit' });
    await upstreams.replaceCredential(upstream, { credentialRef: 'vault/2', actor: 'eve', reason: 'rotated' });
    const rest = { quotaGroup: null, route: 'direct', priority: 5 };
    const none = { credentialRef: null, weight: 1, maxConcurrency: null, status: 'on' };
    const changed = { ...rest, ...none, weight: 3, maxConcurrency: 5 };
    const history = await upstreams.history(upstream);
    expect(history.map(({ type, actor, reason, settings }) => ({ type, actor, reason, settings }))).toEqual([
      { type: 'registered', actor: 'deploy', reason: 'new account', settings: { ...rest, ...none } },
      { type: 'changed', actor: 'ann', reason: null, settings: changed },
      { type: 'changed', actor: 'ann', reason: 'audit', settings: { ...changed, status: 'off' } },
      {
        type: 'credential',
        actor: 'eve',
        reason: 'rotated',
        settings: { ...changed, status: 'off', credentialRef: 'vault/2' },
      },
    ]);
    expect(
      history.every(
        ({ block, kind, subject }) => block === null && kind === null && subject === `upstream:${upstream}`,
      ),
    ).toBe(true);
  },
);

onEvery(
  'null takes a slot limit and a quota group back to none, absent leaves them; the history shows it',
  async (s) => {
    const upstream = await one(s);
    const { upstreams } = s.recoup;
    const pool = (await upstreams.list({ limit: 1000 })).upstreams.find((each) => each.upstream === upstream)!.pool;
    const [group, other] = [newId('group'), await one(s)];
    await upstreams.change(upstream, { maxConcurrency: 1, quotaGroup: group });
    await upstreams.change(other, { quotaGroup: group });
    await upstreams.select({ pool });
    await blocked(s, other, { ...soft, subject: 'quota_group' });
    expect((await failing(s, upstream)).sort()).toEqual(['blocked', 'slots']);
    expect(await upstreams.change(upstream, { weight: 1 })).toEqual({ outcome: 'duplicate' });
    expect(await upstreams.change(upstream, { maxConcurrency: null })).toEqual({
      outcome: 'changed',
    });
    expect(await failing(s, upstream)).toEqual(['blocked']);
    expect(await upstreams.register({ upstream, pool, provider: pool, quotaGroup: null })).toEqual({
      outcome: 'changed',
    });
    expect(await failing(s, upstream)).toEqual([]);
    for (const again of [{ maxConcurrency: null }, { quotaGroup: null, maxConcurrency: null }, {}])
      expect(await upstreams.change(upstream, again)).toEqual({ outcome: 'duplicate' });
    // None and another setting at once; and set again.
    await upstreams.change(upstream, { maxConcurrency: 7, quotaGroup: group });
    await upstreams.change(upstream, { maxConcurrency: null, weight: 2 });
    const set = (await upstreams.history(upstream)).filter(({ type }) => type === 'changed');
    expect(set.map(({ settings }) => [settings!.maxConcurrency, settings!.quotaGroup, settings!.weight])).toEqual([
      [1, group, 1],
      [null, group, 1],
      [null, null, 1],
      [7, group, 1],
      [null, group, 2],
    ]);
    const born = newId('upstream');
    expect(
      await upstreams.register({ upstream: born, pool, provider: 'x', quotaGroup: null, maxConcurrency: null }),
    ).toEqual({
      outcome: 'registered',
    });
  },
);

onEvery(
  '50 registrations and changes at once: every one that says something new is one event, none is lost',
  async (s) => {
    const [upstream, pool] = [newId('upstream'), newId('pool')];
    const replicas = await Promise.all(times(4, () => s.replica()));
    const answers = await Promise.all(
      times(50, (i) =>
        answer(
          replicas[i % 4]!.upstreams.register({ upstream, pool, provider: 'x', weight: 1 + (i % 25), actor: `${i}` }),
        ),
      ),
    );
    const { registered, changed = 0, duplicate = 0 } = tally(answers);
    expect([registered, changed + duplicate]).toEqual([1, 49]);
    expect(await s.recoup.upstreams.history(upstream)).toHaveLength(1 + changed);
    const settings = (await s.recoup.upstreams.history(upstream)).map((event) => event.settings!.weight);
    expect(settings.every((weight, i) => weight !== settings[i - 1])).toBe(true);
  },
);

onEvery(
  'another credential ends what was blocked because of the old one, also for a model, and nothing else',
  async (s) => {
    const upstream = await one(s);
    const kinds = [
      ['auth_expired'],
      ['auth_revoked', { scope: 'model:opus' }],
      ['billing'],
      ['permission'],
      ['operator'],
    ] as const;
    for (const [kind, more] of kinds) await blocked(s, upstream, manual(kind, more));
    await blocked(s, upstream, soft);
    const { upstreams } = s.recoup;
    // The reference is as it was: the secret behind it is another.
    expect(await upstreams.replaceCredential(upstream, { actor: 'ann', reason: 'rotated' })).toEqual({
      outcome: 'replaced',
      closed: 2,
    });
    expect(await upstreams.replaceCredential(upstream, { actor: 'ann' })).toEqual({ outcome: 'duplicate', closed: 0 });
    const [explained] = await upstreams.explain({ upstream, model: 'opus' });
    expect(explained!.failing.map(({ kind }) => kind).sort()).toEqual([
      'billing',
      'operator',
      'permission',
      'rate_limited',
    ]);
    const closed = (await blockEvents(s, upstream)).filter(({ type }) => type === 'closed');
    expect(closed.map(({ kind, closedAs, actor, reason }) => ({ kind, closedAs, actor, reason }))).toEqual(
      ['auth_expired', 'auth_revoked'].map((kind) => ({
        kind,
        closedAs: 'credential',
        actor: 'ann',
        reason: 'rotated',
      })),
    );
    await upstreams.change(upstream, { status: 'retired' });
    await expect(upstreams.replaceCredential(upstream, { credentialRef: 'v' })).rejects.toMatchObject({
      code: 'upstream_retired',
    });
    await expect(upstreams.replaceCredential(newId('nobody'), {})).rejects.toMatchObject({ code: 'no_upstream' });
  },
);

onEvery(
  '401 of a request with the old credential that arrives after the new one blocks nothing; of a later one it does',
  async (s) => {
    const { pool, names } = await poolOf(s, 1);
    const { lease } = await s.recoup.upstreams.select({ pool });
    await blocked(s, names[0]!, manual('auth_revoked'));
    await s.db.advance(MINUTE);
    await s.recoup.upstreams.replaceCredential(names[0]!, { credentialRef: 'vault/2' });
    await s.db.advance(SECOND);
    const late = await s.recoup.upstreams.report({ upstream: names[0]!, lease: lease!, answer: { status: 401 } });
    expect(late).toMatchObject({ outcome: 'duplicate', block: null });
    expect(await failing(s, names[0]!)).toEqual([]);
    // What it says of anything else counts.
    expect(await blocked(s, names[0]!, manual('billing'), { elapsedMs: MINUTE })).toMatchObject({ outcome: 'blocked' });
    expect(await s.recoup.upstreams.report({ upstream: names[0]!, answer: { status: 401 } })).toMatchObject({
      outcome: 'blocked',
    });
  },
);

onEvery(
  'a manual block, then a request that began later answers 200, and a billing page says paid: it stays, marked once',
  async (s) => {
    const upstream = await one(s);
    const startedAt = await s.db.now();
    await s.db.advance(MINUTE);
    const { block } = await blocked(s, upstream, manual('billing'));
    await blocked(s, upstream, manual('permission', { scope: 'model:opus' }));
    await blocked(s, upstream, manual('operator'));
    await s.db.advance(MINUTE);
    // What began before proves nothing.
    await s.recoup.upstreams.report({ upstream, success: true, startedAt });
    expect(await contradicted(s, upstream)).toEqual([]);
    for (let i = 0; i < 3; i++) await s.recoup.upstreams.report({ upstream, success: true });
    expect(await contradicted(s, upstream)).toEqual(['billing']);
    const [item] = (await s.recoup.inbox.list()).filter((found) => found.block === block);
    expect(item!.contradictedAt).toEqual(await s.db.now());
    await s.db.advance(MINUTE);
    await s.recoup.upstreams.note({
      upstream,
      snapshots: [
        { name: 'balance', used: 0.5 },
        { name: 'opus', used: 0.1, scope: 'model:opus' },
      ],
    });
    // What a person has decided was never about how it answers.
    expect(await contradicted(s, upstream)).toEqual(['billing', 'permission']);
    expect(await failing(s, upstream)).toEqual(['blocked', 'blocked']);
    expect((await s.recoup.inbox.list()).find((found) => found.block === block)!.contradictedAt).toEqual(
      item!.contradictedAt,
    );
    expect(await s.recoup.upstreams.free(block!, { generation: item!.generation, actor: 'ann' })).toEqual({
      outcome: 'closed',
    });
  },
);

onEvery(
  'an answer that needs a person itself, or says that a quota is used up, contradicts and ends nothing',
  async (s) => {
    const upstream = newId('upstream');
    await s.recoup.upstreams.register({ upstream, pool: newId('pool'), provider: 'codex' });
    const windows = { 'x-codex-primary-used-percent': '30', 'x-codex-primary-window-minutes': '300' };
    const error = (message: string) => ({ error: { message } });
    await s.recoup.upstreams.report({ upstream, answer: { status: 402, headers: windows, body: error('no credit') } });
    const quota = {
      status: 429,
      headers: windows,
      body: { error: { type: 'usage_limit_reached', resets_in_seconds: 3600 } },
    };
    await s.db.advance(SECOND);
    await s.recoup.upstreams.report({ upstream, answer: quota });
    await s.db.advance(SECOND);
    await s.recoup.upstreams.report({ upstream, answer: { status: 402, headers: windows, body: error('no credit') } });
    await s.recoup.upstreams.report({ upstream, answer: quota });
    expect(await contradicted(s, upstream)).toEqual([]);
    const open = (await blockEvents(s, upstream)).map(({ kind, type }) => `${kind} ${type}`);
    expect(open.filter((event) => !event.endsWith('extended')).sort()).toEqual([
      'billing opened',
      'quota_exhausted_upstream opened',
    ]);
  },
);

onEvery('the books are right', booksAreRight);
