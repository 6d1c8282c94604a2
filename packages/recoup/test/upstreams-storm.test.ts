// Everything about upstreams at once, from four replicas and transactions of callers: no error, no deadlock, and the books are right.
import { expect } from 'vitest';
import { type BlockFacts, grantTo, open, type Recoup, Refusal } from '../src/index.ts';
import { times } from './support/look.ts';
import { poolOf, SECOND, soft } from './support/pools.ts';
import { newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();

/** Numbers below `n`, the same for the same seed. */
function dice(seed: number) {
  let state = seed;
  return (n: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const FACTS: readonly BlockFacts[] = [
  soft,
  { kind: 'server_error', policy: 'auto' },
  { kind: 'server_error', policy: 'auto' },
  { kind: 'overloaded', policy: 'auto', subject: 'provider' },
  { kind: 'quota', policy: 'snapshot', subject: 'quota_group', forMs: 20 * SECOND },
  { kind: 'proxy', subject: 'route' },
  { kind: 'billing', policy: 'manual', scope: 'model:m' },
  { kind: 'auth_revoked', policy: 'manual' },
];

/** One caller that does one thing after the other, each of them any. */
async function caller(s: Stage, recoup: Recoup, pool: string, names: readonly string[], seed: number, steps: number) {
  const below = dice(seed);
  const { upstreams } = recoup;
  const upstream = () => names[below(names.length)]!;
  const anyBlock = async () => {
    const found = await s.db.query('select id::int, generation from recoup.blocks order by random() limit 1');
    return found[0] as { id: number; generation: number } | undefined;
  };
  const does: (() => Promise<unknown>)[] = [
    async () => {
      const { upstream, lease } = await upstreams.select({ pool, ...(below(2) ? { model: 'm' } : {}) });
      if (upstream === null) return undefined;
      if (below(5) === 0) return upstreams.release(lease!);
      return upstreams.report({ upstream, lease: lease!, success: below(3) > 0, ...(below(2) ? { model: 'm' } : {}) });
    },
    () => upstreams.report({ upstream: upstream(), success: false, block: FACTS[below(FACTS.length)]! }),
    () => upstreams.report({ upstream: upstream(), success: true, elapsedMs: below(2) * 5000 }),
    () => upstreams.change(upstream(), { weight: 1 + below(3), status: below(8) ? 'on' : 'draining' }),
    async () => {
      const block = await anyBlock();
      return block && upstreams.free(block.id, below(2) ? { generation: block.generation } : {});
    },
    () => recoup.transaction(({ upstreams }) => upstreams.report({ upstream: upstream(), success: below(2) === 0 })),
    () => recoup.sweep(),
  ];
  const answers: string[] = [];
  for (let step = 0; step < steps; step++) {
    if (below(12) === 0) await s.db.advance(below(40) * SECOND);
    // Selections and reports are what there is most of.
    const index = Math.min(below(10), below(10));
    const got = await does[index % does.length]!().catch((error: unknown) => error);
    if (got instanceof Error) answers.push(got instanceof Refusal ? got.code : String(got));
  }
  return answers;
}

onEvery('a role that may only serve is enough for all of it, and cannot rewrite what happened', async (s) => {
  const role = `serving_${process.pid}_${newId('x').slice(2)}`;
  await s.db.query(`create role ${role} login password 'secret'`);
  await grantTo(await s.client(), 'recoup', role);
  const url = Object.assign(new URL(s.db.url), { username: role, password: 'secret' });
  const recoup = await open({ connection: url.href, sweep: false });
  const { upstreams } = recoup;
  const pool = newId('pool');
  for (const i of [1, 2, 3]) await upstreams.register({ upstream: `${pool}/${i}`, pool, provider: pool });
  const { upstream, lease } = await upstreams.select({ pool });
  await upstreams.extend(lease!);
  await upstreams.report({ upstream: upstream!, lease: lease!, success: false, block: FACTS[1]! });
  for (const i of [1, 2, 3]) await upstreams.report({ upstream: `${pool}/${i}`, success: false, block: FACTS[1]! });
  const [explained] = await upstreams.explain({ pool });
  expect(explained!.failing).toMatchObject([{ kind: 'server_error', subject: `provider:${pool}` }]);
  expect(await upstreams.free(explained!.failing[0]!.block!)).toEqual({ outcome: 'closed' });
  await recoup.sweep();
  await recoup.close();
  const client = await s.client();
  await client.query(`set role ${role}`);
  for (const sql of [
    'update recoup.block_events set reason = null',
    'delete from recoup.block_events',
    'delete from recoup.blocks',
    'delete from recoup.upstreams',
  ])
    await expect(client.query(sql)).rejects.toMatchObject({ code: '42501' });
  await client.query('reset role');
  await client.query(`drop owned by ${role}`);
  await client.query(`drop role ${role}`);
});

onEvery(
  'callers of every kind at once: each is answered, and every block, event and end is what verify expects',
  async (s) => {
    const first = await poolOf(s, 6, { quotaGroup: 'project', route: 'proxy' });
    const { pool } = first;
    const second = times(6, (i) => `${pool}/other/${i}`);
    for (const upstream of second) await s.recoup.upstreams.register({ upstream, pool, provider: 'other' });
    const names = [...first.names, ...second];
    const replicas = await Promise.all(times(4, () => s.replica()));
    const answers = await Promise.all(times(24, (i) => caller(s, replicas[i % 4]!, pool, names, i + 1, 60)));
    // On a machine that has no time a row may be waited for longer than a call does.
    const slow = ['upstream_busy', 'transaction_conflict'];
    expect(answers.flat().filter((code) => !slow.includes(code))).toEqual([]);
    expect(s.complaints).toEqual([]);
    const { problems } = await s.recoup.verify({ testClock: true });
    expect(problems).toEqual([]);
    // That it was a storm: blocks of every kind came and went.
    const kinds = await s.db.query(`select distinct kind from recoup.blocks where closed_at is not null`);
    expect(kinds.length).toBe(new Set(FACTS.map(({ kind }) => kind)).size);
    const types = await s.db.query('select distinct type from recoup.block_events');
    expect(types.length).toBe(5);
  },
);
