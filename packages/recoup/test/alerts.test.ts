// Alerts: a condition fires once and recovers once, however many replicas look, for as long as it holds.
import { expect } from 'vitest';
import type { Alert, AlertKind } from '../src/index.ts';
import { times } from './support/look.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();

async function upstream(s: Stage): Promise<string> {
  const upstream = newId('up');
  await s.recoup.upstreams.register({ upstream, pool: newId('pool'), provider: newId('provider') });
  return upstream;
}

const firing = async (s: Stage, kind: AlertKind, of: string): Promise<Alert[]> =>
  (await s.recoup.alerts.list({ kind, limit: 1000 })).filter(({ subject }) => subject.includes(of));

onEvery(
  'a limit that is nearly and then wholly used up fires both, each once, and both end with the window',
  async (s) => {
    const [up, limit] = [await upstream(s), newId('limit')];
    await s.recoup.upstreams.limits.set({
      limit,
      upstream: up,
      unit: 'requests',
      amount: 10,
      kind: 'first_use',
      lengthMs: 60_000,
    });
    const use = async (requests: number) => {
      await s.recoup.upstreams.report({ upstream: up, success: true, use: { requests }, key: newId('use') });
      await s.recoup.alerts.look();
    };
    await use(8);
    expect(await firing(s, 'near_exhausted', limit)).toEqual([]);
    await use(1);
    expect(await firing(s, 'near_exhausted', limit)).toMatchObject([{ number: 1, facts: { used: 9, amount: 10 } }]);
    expect(await firing(s, 'exhausted', limit)).toEqual([]);
    await use(1);
    expect(await firing(s, 'exhausted', limit)).toHaveLength(1);
    expect(await firing(s, 'near_exhausted', limit)).toHaveLength(1);
    await s.db.advance(60_001);
    await s.recoup.alerts.look();
    for (const kind of ['exhausted', 'near_exhausted'] as const) expect(await firing(s, kind, limit)).toEqual([]);
    const all = (await s.recoup.alerts.list({ recovered: true, limit: 1000 })).filter(({ subject }) =>
      subject.includes(limit),
    );
    expect(all.map(({ kind, recoveredAt }) => [kind, recoveredAt instanceof Date]).sort()).toEqual([
      ['exhausted', true],
      ['near_exhausted', true],
    ]);
  },
);

onEvery('what five replicas see at once fires once and recovers once, and the next time is number 2', async (s) => {
  const replicas = [s.recoup, ...(await Promise.all(times(4, () => s.replica())))];
  const all = () => Promise.all(replicas.map((replica) => replica.alerts.look()));
  const up = await upstream(s);
  for (const time of [1, 2]) {
    const { block } = await s.recoup.upstreams.block(up, { reason: 'r' });
    await s.db.advance(3_600_001);
    const fired = await all();
    expect(fired.reduce((sum, one) => sum + one.fired, 0)).toBe(1);
    expect(await firing(s, 'blocked_long', `block:${block}`)).toHaveLength(1);
    await s.recoup.upstreams.free(block!);
    const ended = await all();
    expect(ended.reduce((sum, one) => sum + one.recovered, 0)).toBe(1);
    const events = await s.db.query('select type from recoup.alert_events where subject = $1 order by type', [
      `block:${block}`,
    ]);
    expect([time, events.map(({ type }) => type)]).toEqual([time, ['firing', 'recovered']]);
  }
  const limit = newId('limit');
  await s.recoup.upstreams.limits.set({
    limit,
    upstream: up,
    unit: 'requests',
    amount: 1,
    kind: 'first_use',
    lengthMs: 60_000,
  });
  for (const number of [1, 2, 3]) {
    await s.recoup.upstreams.report({ upstream: up, success: true, key: newId('use') });
    await all();
    expect(await firing(s, 'exhausted', limit)).toMatchObject([{ number }]);
    await s.db.advance(60_001);
    await all();
    expect(await firing(s, 'exhausted', limit)).toEqual([]);
  }
});

onEvery('who looked before the others fired and ended it fires nothing', async (s) => {
  const up = await upstream(s);
  const { block } = await s.recoup.upstreams.block(up, { reason: 'r' });
  await s.db.advance(3_600_001);
  // The number is taken by somebody whose commit is awaited, and the condition is over by then.
  const rival = await s.client();
  await rival.query('begin');
  await rival.query(
    `insert into recoup.alerts (kind, subject, number, fired_at, facts, recovered_at)
    values ('blocked_long', $1, 1, recoup.clock(), '{}', recoup.clock())`,
    [`block:${block}`],
  );
  await rival.query(
    `insert into recoup.alert_events (kind, subject, number, type, at)
    select 'blocked_long', $1, 1, t, recoup.clock() from unnest(array['firing', 'recovered']) t`,
    [`block:${block}`],
  );
  const looking = s.recoup.alerts.look();
  await rival.query('commit');
  await looking;
  const numbers = await s.db.query('select number from recoup.alerts where subject = $1', [`block:${block}`]);
  expect(numbers.length).toBeGreaterThanOrEqual(1);
  await s.recoup.upstreams.free(block!);
  await s.recoup.alerts.look();
  expect(await firing(s, 'blocked_long', `block:${block}`)).toEqual([]);
});

onEvery('a window of a provider that is used up fires until it is reset', async (s) => {
  const up = await upstream(s);
  // By the clock of this process: that of the database was moved.
  const resetsAt = new Date(Date.now() + 60_000);
  await s.recoup.upstreams.note({ upstream: up, snapshots: [{ name: 'weekly', used: 1, exhausted: true, resetsAt }] });
  await s.recoup.alerts.look();
  expect(await firing(s, 'snapshot_exhausted', up)).toMatchObject([
    { facts: { of: `upstream:${up}`, name: 'weekly' } },
  ]);
  await s.db.advance(300_000);
  await s.recoup.alerts.look();
  expect(await firing(s, 'snapshot_exhausted', up)).toEqual([]);
});

onEvery('idle is off unless set; then it is an upstream that is on and was not used for so long', async (s) => {
  const watching = await s.replica({ alertIdleMs: 7_200_000 });
  const [used, idle, off] = [await upstream(s), await upstream(s), await upstream(s)];
  await s.recoup.upstreams.change(off, { status: 'off' });
  await s.db.advance(7_200_001);
  const [row] = await s.db.query('select pool from recoup.upstreams where id = $1', [used]);
  await s.recoup.upstreams.select({ pool: String(row!.pool) });
  await s.recoup.alerts.look();
  expect(await s.recoup.alerts.list({ kind: 'idle' })).toEqual([]);
  await watching.alerts.look();
  for (const [up, count] of [
    [used, 0],
    [idle, 1],
    [off, 0],
  ] as const)
    expect([up, await firing(s, 'idle', `upstream:${up}`)]).toEqual([up, expect.objectContaining({ length: count })]);
  await s.recoup.upstreams.change(idle, { weight: 2 });
  await watching.alerts.look();
  expect(await firing(s, 'idle', `upstream:${idle}`)).toEqual([]);
});

onEvery('a pass of the sweeps looks at alerts', async (s) => {
  const { block } = await s.recoup.upstreams.block(await upstream(s), { reason: 'r' });
  await s.db.advance(3_600_001);
  await s.recoup.sweep();
  expect(await firing(s, 'blocked_long', `block:${block}`)).toHaveLength(1);
});

onEvery('after all of it the books are right', booksAreRight);
