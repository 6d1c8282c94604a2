// Upstreams over HTTP: select, call, report from any language; when to come back; what people see and do about blocks.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { capacity } from '../src/operations/capacity/capacity.ts';
import { Api, type Input, type Json, newId } from './support/api.ts';

describe.each(inject('servers'))('on $name', ({ url }) => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start({}, url);
  });
  afterAll(async () => {
    expect((await api.service.recoup.verify()).problems).toEqual([]);
    await api.close();
  });

  /** A pool of so many upstreams, each at a provider of its own. */
  async function pool(count = 1, more: Input = {}): Promise<{ pool: string; ids: string[] }> {
    const name = newId('pool');
    const ids = Array.from({ length: count }, (_, i) => `${name}/${i}`);
    for (const upstream of ids)
      await api.call('upstreams.register', {
        upstream,
        pool: name,
        provider: upstream,
        credentialRef: 'vault/x',
        ...more,
      });
    return { pool: name, ids };
  }
  const report = (upstream: string, block: Input, more: Input = {}) =>
    api.call('upstreams.report', { upstream, success: false, block, ...more });

  describe('registering', () => {
    test('is 201 once; a repeat is a duplicate, another pool a conflict, a retired one gone', async () => {
      const account = { upstream: newId('up/ä'), pool: newId('pool'), provider: 'acme' };
      const answers = [];
      for (const more of [{}, {}, { weight: 2 }])
        answers.push(await api.ask('upstreams.register', { ...account, ...more }));
      expect(answers.map(({ status, body }) => [status, body.outcome])).toEqual([
        [201, 'registered'],
        [200, 'duplicate'],
        [200, 'changed'],
      ]);
      await api.refused('upstreams.register', 'conflict', { ...account, pool: 'elsewhere' });
      await api.refused('upstreams.change', 'no_upstream', { upstream: 'nobody', weight: 1 });
      await api.call('upstreams.change', { upstream: account.upstream, status: 'retired' });
      await api.refused('upstreams.change', 'upstream_retired', { upstream: account.upstream, status: 'on' });
    });

    test('null takes the slots and the group back to none; the history has it', async () => {
      const { ids } = await pool(1, { maxConcurrency: 1, quotaGroup: 'g' });
      const upstream = ids[0]!;
      const none = { upstream, maxConcurrency: null, quotaGroup: null };
      expect(await api.call('upstreams.change', { upstream, maxConcurrency: null })).toEqual({ outcome: 'changed' });
      expect(await api.call('upstreams.change', none)).toEqual({ outcome: 'changed' });
      expect(await api.call('upstreams.change', none)).toEqual({ outcome: 'duplicate' });
      const { events } = await api.call('upstreams.history', { upstream });
      expect(events.map(({ settings }: Json) => [settings.maxConcurrency, settings.quotaGroup])).toEqual([
        [null, null],
        [null, 'g'],
        [1, 'g'],
      ]);
      const { rule } = await api.refused('upstreams.change', 'invalid', { upstream, maxConcurrency: 0 });
      expect(rule).toContain('1');
    });

    test.each([
      ['upstreams.register', { provider: 'x' }, 'pool'],
      ['upstreams.register', { pool: 'p', provider: 'x', secret: 'sk-1' }, 'secret'],
      ['upstreams.register', { pool: 'p', provider: 'x', priority: 10 }, 'priority'],
      ['upstreams.change', { status: 'gone' }, 'status'],
      ['upstreams.report', {}, 'success'],
      ['upstreams.report', { success: true, block: { kind: 'x' } }, 'block'],
      ['upstreams.report', { success: false, block: { kind: 'x', scope: 'all' } }, 'block.scope'],
      [
        'upstreams.report',
        { success: false, block: { kind: 'x', forMs: 1, until: '2030-01-01T00:00:00Z' } },
        'block.until',
      ],
      ['upstreams.report', { success: false, startedAt: 'yesterday' }, 'startedAt'],
      ['upstreams.history', { cursor: 'x' }, 'cursor'],
      ['upstreams.list', { usable: 'maybe' }, 'usable'],
      ['upstreams.free', { block: 'x' }, 'block'],
      ['upstreams.free', { block: 0 }, 'block'],
    ])('%s %j names the field %s', async (name, input, field) => {
      const { upstream } = { upstream: 'u', ...input } as Input;
      const named = name === 'upstreams.free' || name === 'upstreams.list' ? input : { upstream, ...input };
      expect(await api.refused(name, 'invalid', named as Input)).toMatchObject({ field });
    });
  });

  describe('select', () => {
    test('gives an upstream and where its credential is; the same lease id gives the same lease', async () => {
      const { pool: name, ids } = await pool(2, { maxConcurrency: 1 });
      const lease = newId('lease');
      const first = await api.call('upstreams.select', { pool: name, lease, holder: 'me' });
      expect(first).toMatchObject({ outcome: 'selected', credentialRef: 'vault/x', lease, retryAfterMs: null });
      expect(ids).toContain(first.upstream);
      expect(await api.call('upstreams.select', { pool: name, lease })).toEqual(first);
      const second = await api.call('upstreams.select', { pool: name });
      expect(second.upstream).not.toBe(first.upstream);
      expect(await api.call('upstreams.release', { lease })).toEqual({ outcome: 'released' });
      expect(await api.call('upstreams.release', { lease })).toEqual({ outcome: 'duplicate' });
      expect(await api.call('upstreams.extend', { lease, leaseMs: 1000 })).toEqual({
        outcome: 'stale',
        leaseUntil: null,
      });
      expect(await api.call('upstreams.extend', { lease: second.lease })).toMatchObject({ outcome: 'extended' });
    });

    test('none: Retry-After is five minutes at most, the body has the true estimate; the pool says the same', async () => {
      const { pool: name, ids } = await pool(2);
      const days = 5 * 86_400_000;
      for (const upstream of ids) await report(upstream, { kind: 'quota', policy: 'rolling', forMs: days });
      for (const [operation, found] of [
        ['upstreams.select', { outcome: 'none', upstream: null, lease: null }],
        ['pools.get', { pool: name, usable: false }],
      ] as const) {
        const { status, headers, body } = await api.ask(operation, { pool: name });
        expect({ status, retryAfter: headers.get('retry-after') }, operation).toEqual({
          status: 200,
          retryAfter: '300',
        });
        expect(body).toMatchObject({ ...found, retryAfterMs: 300_000 });
        expect(Date.parse(body.expectedRecoveryAt) - Date.now()).toBeGreaterThan(days - 600_000);
      }
      await report(ids[0]!, {
        kind: 'rate_limited',
        policy: 'auto',
        source: 'retry_after',
        forMs: 60_000,
        scope: 'model:a',
      });
      const free = { pool: (await pool()).pool };
      expect(await api.call('pools.get', free)).toMatchObject({ ...free, usable: true, retryAfterMs: null });
      const { headers } = await api.ask('pools.get', free);
      expect(headers.get('retry-after')).toBeNull();
    });

    test('a pool of which every upstream needs a person has no estimate', async () => {
      const { pool: name, ids } = await pool();
      await api.call('upstreams.block', { upstream: ids[0], reason: 'unpaid' });
      expect(await api.call('upstreams.select', { pool: name })).toMatchObject({
        outcome: 'none',
        retryAfterMs: 300_000,
        expectedRecoveryAt: null,
      });
    });

    test('a model that is out is out alone', async () => {
      const { pool: name, ids } = await pool();
      await report(ids[0]!, { kind: 'rate_limited', policy: 'auto', scope: 'model:big' });
      const outcome = async (more: Input) => (await api.call('upstreams.select', { pool: name, ...more })).outcome;
      expect([await outcome({ model: 'big' }), await outcome({ model: 'small' }), await outcome({})]).toEqual([
        'none',
        'selected',
        'selected',
      ]);
      expect((await api.call('upstreams.explain', { upstream: ids[0], model: 'big' })).usable).toBe(false);
      expect((await api.call('upstreams.explain', { upstream: ids[0] })).usable).toBe(true);
      expect((await api.call('pools.explain', { pool: name, model: 'big' })).upstreams[0].failing).toHaveLength(1);
    });
  });

  describe('reports', () => {
    test('a failure blocks, what was under way then says nothing new, a success of later closes', async () => {
      const { pool: name, ids } = await pool();
      const upstream = ids[0]!;
      const leases = [];
      for (let n = 0; n < 3; n++) leases.push((await api.call('upstreams.select', { pool: name })).lease);
      const limit = { kind: 'rate_limited', policy: 'auto', source: 'retry_after', forMs: 60_000 };
      const outcomes = [];
      for (const lease of leases) outcomes.push((await report(upstream, limit, { lease })).outcome);
      expect(outcomes).toEqual(['blocked', 'duplicate', 'duplicate']);
      // It began before the block: it proves nothing.
      const startedAt = '2020-01-01T00:00:00Z';
      expect(await api.call('upstreams.report', { upstream, success: true, startedAt })).toMatchObject({ closed: 0 });
      expect(await api.call('upstreams.report', { upstream, success: true })).toMatchObject({
        outcome: 'noted',
        closed: 1,
      });
      await api.refused('upstreams.report', 'no_upstream', { upstream: 'nobody', success: true });
    });

    test('a status that no answer has is the caller’s mistake', async () => {
      const { ids } = await pool();
      for (const status of [9999, -1, 200.5, '429'])
        for (const name of ['upstreams.report', 'upstreams.note']) {
          const { field } = await api.refused(name, 'invalid', { upstream: ids[0], answer: { status } });
          expect(field).toBe('answer.status');
        }
      expect(await api.call('upstreams.explain', { upstream: ids[0] })).toMatchObject({ usable: true });
    });

    test('a failure without a block blames nobody', async () => {
      const { ids } = await pool();
      expect(await api.call('upstreams.report', { upstream: ids[0], success: false })).toEqual({
        outcome: 'noted',
        block: null,
        until: null,
        step: null,
        closed: 0,
        use: null,
        class: null,
        reason: null,
        nextStep: null,
        rule: null,
        blocks: [],
        dropped: [],
      });
    });
  });

  describe('people', () => {
    test('block, see why, free; the history names who', async () => {
      const { pool: name, ids } = await pool();
      const upstream = ids[0]!;
      const why = { upstream, reason: 'the bill is unpaid', actor: 'ann' };
      const blocked = await api.call('upstreams.block', why);
      expect(await api.call('upstreams.block', why)).toEqual({ ...blocked, outcome: 'duplicate' });
      const { block } = blocked;
      expect(await api.call('upstreams.explain', { upstream })).toMatchObject({
        usable: false,
        pool: name,
        expectedRecoveryAt: null,
        failing: [{ check: 'blocked', block, policy: 'manual', until: null, reason: 'the bill is unpaid' }],
      });
      const { blocks } = await api.call('blocks.list', { policy: 'manual', limit: 1000 });
      const listed = blocks.find((one: Json) => one.block === block);
      expect(listed).toMatchObject({ subject: `upstream:${upstream}`, halfOpen: false, generation: 1 });
      expect(await api.call('estimates.report')).toEqual({ scores: expect.any(Array) });
      for (const as of ['probe', 'snapshot']) await api.refused('upstreams.free', 'manual_block', { block, as });
      expect(await api.call('upstreams.free', { block, generation: 7 })).toEqual({ outcome: 'duplicate' });
      expect(await api.call('upstreams.free', { block, generation: 1, reason: 'paid', actor: 'bob' })).toEqual({
        outcome: 'closed',
      });
      await api.refused('upstreams.free', 'no_block', { block: 2 ** 50 });
      const { events } = await api.call('upstreams.history', { upstream });
      expect(events.map(({ type, actor, reason }: Json) => [type, actor, reason])).toEqual([
        ['closed', 'bob', 'paid'],
        ['opened', 'ann', 'the bill is unpaid'],
        ['registered', null, null],
      ]);
      expect(events[2]).toMatchObject({ block: null, kind: null, settings: { route: 'direct', status: 'on' } });
      const [first] = (await api.call('upstreams.history', { upstream, oldestFirst: true, limit: 1 })).events;
      expect(first).toEqual(events[2]);
      for (const read of ['upstreams.explain', 'upstreams.history'])
        await api.refused(read, 'no_upstream', { upstream: 'nobody' });
    });

    test('pools in figures', async () => {
      const { pool: name, ids } = await pool(3);
      await api.call('upstreams.change', { upstream: ids[0], status: 'draining' });
      await api.call('upstreams.block', { upstream: ids[1], reason: 'x' });
      await api.call('upstreams.select', { pool: name });
      const { pools } = await api.call('pools.list', { limit: 1000 });
      expect(pools.find((one: Json) => one.pool === name)).toMatchObject({ total: 3, on: 2, usable: 1, slotsOut: 1 });
      expect((await api.call('upstreams.list', { pool: name, usable: false })).upstreams).toMatchObject([
        { upstream: ids[0], failing: [{ check: 'draining' }] },
        { upstream: ids[1], failing: [{ check: 'blocked' }] },
      ]);
    });
  });

  test('the document says where Retry-After may stand', async () => {
    const { body } = await api.send('GET', '/openapi.json');
    const headers = (path: string, method: string) =>
      Object.keys(body.paths[path][method].responses[200].headers ?? {});
    expect(headers('/v1/pools/{pool}/select', 'post')).toEqual(['Retry-After']);
    expect(headers('/v1/pools/{pool}', 'get')).toEqual(['Retry-After']);
    expect(headers('/v1/pools', 'get')).toEqual([]);
  });

  test('every operation of the list was called', () => {
    const elsewhere = /^(limits|inbox|probes)\.|^upstreams\.(note|snapshots|replaceCredential)$/;
    const names = capacity.map(({ name }) => name).filter((name) => !elsewhere.test(name));
    expect(names.filter((name) => !api.called.has(name))).toEqual([]);
  });
});
