// What is read of upstreams in numbers: lists, open blocks, pools, pages of history; and what is told of recoveries.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Recoup } from '../src/index.ts';
import { newId, Stage, servers } from './support/stage.ts';

const SECOND = 1000;

describe.each(servers)('on $name', (server) => {
  let stage: Stage;
  let recoup: Recoup;
  const told: [transition: string, outcome: string, labels: unknown][] = [];
  beforeAll(async () => {
    stage = await Stage.on(server);
    recoup = await stage.replica({ onTransition: (...one) => void told.push(one as never) });
  });
  afterAll(() => stage.close());

  /** A pool of so many upstreams, in the order of their ids. */
  async function pool(count: number, more: object = {}): Promise<{ pool: string; ids: string[] }> {
    const name = newId('pool');
    const ids = Array.from({ length: count }, (_, i) => `${name}/${i}`);
    for (const upstream of ids) await recoup.upstreams.register({ upstream, pool: name, provider: name, ...more });
    return { pool: name, ids };
  }
  const limited = (upstream: string, forMs: number) =>
    recoup.upstreams.report({
      upstream,
      success: false,
      block: { kind: 'rate_limited', policy: 'auto', source: 'retry_after', forMs },
    });

  test('lists go by id from page to page, by what is given', async () => {
    const { pool: name, ids } = await pool(5, { quotaGroup: 'g', credentialRef: 'vault/x', priority: 3, weight: 2 });
    const first = await recoup.upstreams.list({ pool: name, limit: 2 });
    expect(first.upstreams[0]).toMatchObject({
      upstream: ids[0],
      pool: name,
      provider: name,
      quotaGroup: 'g',
      route: 'direct',
      credentialRef: 'vault/x',
      status: 'on',
      priority: 3,
      weight: 2,
      maxConcurrency: null,
      slotsOut: 0,
      usable: true,
      failing: [],
      lastUsedAt: null,
    });
    expect(first.upstreams[0]!.registeredAt).toBeInstanceOf(Date);
    const second = await recoup.upstreams.list({ pool: name, limit: 2, cursor: first.cursor });
    const third = await recoup.upstreams.list({ pool: name, limit: 2, cursor: second.cursor });
    const pages = [first, second, third].map(({ upstreams }) => upstreams.map((one) => one.upstream));
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    expect(third.cursor).toBeNull();
    await recoup.upstreams.change(ids[1]!, { status: 'off' });
    const of = async (filter: object) =>
      (await recoup.upstreams.list({ provider: name, ...filter })).upstreams.map((one) => one.upstream);
    expect(await of({ status: 'off' })).toEqual([ids[1]]);
    expect(await of({ quotaGroup: 'other' })).toEqual([]);
    await limited(ids[3]!, 60 * SECOND);
    expect(await of({ usable: true })).toEqual([ids[0], ids[2], ids[4]]);
    expect(await of({ usable: false })).toEqual([ids[1], ids[3]]);
    // Of those that are wanted, so that none between the pages is lost.
    const [one] = await of({ usable: true, limit: 1 });
    const rest = await recoup.upstreams.list({ pool: name, usable: true, limit: 1, cursor: one! });
    expect(rest.upstreams).toMatchObject([{ upstream: ids[2] }]);
    for (const [field, value] of Object.entries({ pool: '', status: 'gone', usable: 'yes', limit: 0, cursor: 7, x: 1 }))
      await expect(recoup.upstreams.list({ [field]: value } as never), field).rejects.toMatchObject({
        details: { field: field === 'x' ? expect.any(String) : field },
      });
  });

  test('a page by usability ends where it has looked at many, and goes on', async () => {
    const name = newId('big');
    await stage.db.query(`insert into recoup.upstreams (id, pool, provider, status, turn_at, registered_at)
      select '${name}/' || to_char(i, 'FM00000'), '${name}', '${name}', case when i = 2500 then 'on' else 'off' end, now(), now() from generate_series(1, 2600) i`);
    const first = await recoup.upstreams.list({ pool: name, usable: true });
    expect(first).toMatchObject({ upstreams: [], cursor: `${name}/02000` });
    const second = await recoup.upstreams.list({ pool: name, usable: true, cursor: first.cursor });
    expect(second).toMatchObject({ upstreams: [{ upstream: `${name}/02500` }], cursor: null });
  });

  test('a pool says whether it can be used, and when it is back', async () => {
    const { pool: name, ids } = await pool(2);
    const state = await recoup.upstreams.pool(name);
    expect(state).toMatchObject({ pool: name, usable: true, retryAfterMs: null });
    expect(state.expectedRecoveryAt).toBeInstanceOf(Date);
    const inFigures = async () => (await recoup.upstreams.pools()).pools.find((one) => one.pool === name)!;
    expect(await inFigures()).toMatchObject({ total: 2, on: 2, usable: 2, slotsOut: 0 });
    // Five days: who asks comes back in five minutes, and hears the truth.
    const block = { kind: 'quota', policy: 'rolling', forMs: 5 * 86_400 * SECOND } as const;
    await recoup.upstreams.report({ upstream: ids[0]!, success: false, block });
    await recoup.upstreams.report({ upstream: ids[1]!, success: false, block: { ...block, scope: 'model:big' } });
    expect(await recoup.upstreams.pool(name, { model: 'small' })).toMatchObject({ usable: true });
    const out = await recoup.upstreams.pool(name, { model: 'big' });
    expect(out).toMatchObject({ usable: false, retryAfterMs: 300 * SECOND });
    expect(out.expectedRecoveryAt!.getTime() - Date.now()).toBeGreaterThan(4 * 86_400 * SECOND);
    await recoup.upstreams.block(ids[1]!, { reason: 'maintenance' });
    const listed = await inFigures();
    expect(listed).toMatchObject({ total: 2, on: 2, usable: 0 });
    expect(listed.expectedRecoveryAt!.getTime()).toBe(
      (await recoup.upstreams.pool(name)).expectedRecoveryAt!.getTime(),
    );
    await recoup.upstreams.change(ids[0]!, { status: 'retired' });
    expect(await inFigures()).toMatchObject({ total: 1, on: 1, usable: 0, expectedRecoveryAt: null });
    expect(await recoup.upstreams.pool('nobody’s')).toEqual({
      pool: 'nobody’s',
      usable: false,
      retryAfterMs: 300 * SECOND,
      expectedRecoveryAt: null,
      estimate: null,
    });
  });

  test('pools go by name from page to page', async () => {
    const names = [(await pool(1)).pool, (await pool(1)).pool];
    const seen: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const page: Awaited<ReturnType<typeof recoup.upstreams.pools>> = await recoup.upstreams.pools({
        cursor,
        limit: 1,
      });
      seen.push(...page.pools.map((one) => one.pool));
      cursor = page.cursor;
      if (cursor === null) break;
    }
    expect(seen).toEqual([...seen].sort());
    expect(seen).toEqual(expect.arrayContaining(names));
  });

  test('explain gives the first of a pool in the order of picking', async () => {
    const { pool: name, ids } = await pool(3);
    await recoup.upstreams.change(ids[2]!, { priority: 0 });
    const [first, ...rest] = await recoup.upstreams.explain({ pool: name, limit: 1 });
    expect([first?.upstream, rest]).toEqual([ids[2], []]);
    expect(await recoup.upstreams.explain({ pool: name })).toHaveLength(3);
  });

  test('open blocks, oldest first; what is closed is not there', async () => {
    const { ids } = await pool(3);
    for (const upstream of ids) await recoup.upstreams.block(upstream, { reason: upstream });
    const mine = async (filter: object = {}) => {
      const all = [];
      for (let cursor: number | null = null; ; ) {
        const page: Awaited<ReturnType<typeof recoup.upstreams.blocks>> = await recoup.upstreams.blocks({
          ...filter,
          cursor,
          limit: 1,
        });
        all.push(...page.blocks);
        cursor = page.cursor;
        if (cursor === null) return all.filter(({ subject }) => ids.includes(subject.replace('upstream:', '')));
      }
    };
    const blocks = await mine({ policy: 'manual', kind: 'operator', subject: 'upstream' });
    expect(blocks.map(({ reason }) => reason)).toEqual(ids);
    expect(blocks[0]).toMatchObject({ halfOpen: false, until: null, step: 1, generation: 1, scope: '' });
    expect(await mine({ policy: 'auto' })).toEqual([]);
    expect(await mine({ subject: 'route' })).toEqual([]);
    await recoup.upstreams.free(blocks[1]!.block);
    expect((await mine()).map(({ reason }) => reason)).toEqual([ids[0], ids[2]]);
  });

  test('pages of history from either end make the whole', async () => {
    const { ids } = await pool(1);
    const upstream = ids[0]!;
    for (let i = 0; i < 3; i++) {
      const { block } = await recoup.upstreams.block(upstream, { reason: `r${i}`, actor: 'ann' });
      await recoup.upstreams.free(block!, { actor: 'bob' });
    }
    const whole = await recoup.upstreams.history(upstream);
    expect(whole.map(({ type }) => type)).toEqual([
      'registered',
      'opened',
      'closed',
      'opened',
      'closed',
      'opened',
      'closed',
    ]);
    for (const oldestFirst of [false, true]) {
      const events = [];
      for (let cursor: string | null = null; ; ) {
        const page: Awaited<ReturnType<typeof recoup.upstreams.historyPage>> = await recoup.upstreams.historyPage(
          upstream,
          { cursor, limit: 4, oldestFirst },
        );
        events.push(...page.events);
        cursor = page.cursor;
        if (cursor === null) break;
      }
      expect(oldestFirst ? events : events.reverse()).toEqual(whole);
    }
    await expect(recoup.upstreams.historyPage('nobody')).rejects.toMatchObject({ code: 'no_upstream' });
    for (const cursor of ['', 'x', '1', '1.0', '2026-12-01~1.1', `${new Date().toISOString()}~${'9'.repeat(16)}.1`, 7])
      await expect(recoup.upstreams.historyPage(upstream, { cursor } as never)).rejects.toMatchObject({
        code: 'invalid',
        details: { field: 'cursor' },
      });
  });

  test('a manual block is ended by a person only', async () => {
    const { ids } = await pool(1);
    const { block } = await recoup.upstreams.block(ids[0]!, { reason: 'unpaid' });
    for (const as of ['probe', 'snapshot'] as const)
      await expect(recoup.upstreams.free(block!, { as })).rejects.toMatchObject({ code: 'manual_block' });
    expect(await recoup.upstreams.free(block!, { as: 'credential' })).toEqual({ outcome: 'closed' });
    expect(await recoup.upstreams.free(block!, { as: 'probe' })).toEqual({ outcome: 'duplicate' });
  });

  test('each block that ends or is tried is told of, with its policy', async () => {
    const { ids } = await pool(1);
    const upstream = ids[0]!;
    const recovered = async (work: () => Promise<unknown>) => {
      told.length = 0;
      await work();
      return told
        .filter(([transition]) => transition === 'block.recover')
        .map(([, outcome, labels]) => [outcome, labels]);
    };
    const due = () =>
      stage.db.query(`update recoup.blocks set until = recoup.clock() where closed_at is null and policy = 'auto'`);
    await limited(upstream, 60 * SECOND);
    await due();
    expect(await recovered(() => recoup.upstreams.report({ upstream, success: true }))).toEqual([
      ['waiting', { policy: 'auto' }],
    ]);
    expect(await recovered(() => limited(upstream, 60 * SECOND))).toEqual([['error', { policy: 'auto' }]]);
    expect(await recovered(() => recoup.upstreams.report({ upstream, success: true }))).toEqual([
      ['success', { policy: 'auto' }],
    ]);
    const { block } = await recoup.upstreams.block(upstream, { reason: 'x' });
    expect(await recovered(() => recoup.upstreams.free(block!))).toEqual([['operator', { policy: 'manual' }]]);
    expect(await recovered(() => recoup.upstreams.free(block!))).toEqual([['duplicate', { policy: 'manual' }]]);
  });
});
