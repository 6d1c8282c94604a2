// Webhooks: what an endpoint is told of: the kinds that it asked for, where they happen, from where it begins; and when it is looked at.
import { expect } from 'vitest';
import { EVENT_KINDS, type EventKind } from '../src/index.ts';
import { dispatchEvents } from '../src/webhooks/dispatch.ts';
import { asked } from './support/asked.ts';
import { poolOf, SECOND, soft } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';
import { dead, endpointOf, kindsOf, settled, told } from './support/webhooks.ts';

const { onEvery } = staging();
const HOUR = 3600 * SECOND;

const adjust = (s: Stage, wallet: string, amount: number) =>
  s.recoup.wallets.adjust({ wallet, key: newId('key'), amount, actor: 'ann', reason: 'correction' });

/** An upstream, blocked by hand. */
async function blocked(s: Stage): Promise<number> {
  const { names } = await poolOf(s, 1);
  return (await s.recoup.upstreams.block(names[0]!, { reason: 'r' })).block!;
}

/** Where each kind comes from: something that happens in that table alone. */
async function oneOfEach(s: Stage): Promise<readonly (readonly [EventKind, () => Promise<unknown>])[]> {
  const [job, wallet] = [await s.external(0), await s.wallet(0)];
  const old = await blocked(s);
  await s.db.advance(HOUR + 1);
  await s.recoup.alerts.look();
  await s.recoup.upstreams.free(old);
  return [
    ['job.succeeded', () => s.recoup.jobs.succeed(job)],
    ['wallet.debt', () => adjust(s, wallet, -1)],
    ['upstream.blocked', () => blocked(s)],
    ['alert.recovered', () => s.recoup.alerts.look()],
  ];
}

onEvery(
  'each endpoint is told of the one kind that it asked for, whatever else happens in the same table',
  async (s) => {
    const of = new Map<EventKind, string>();
    for (const kind of EVENT_KINDS)
      of.set(kind, await endpointOf(s, [kind], kind === 'wallet.low' ? { lowBalance: 50 } : {}));
    const { wallet, job, attempt } = await s.running(60, { wallet: await s.wallet(100) });
    await s.recoup.jobs.fail({ wallet, job, attempt });
    await s.recoup.jobs.succeed({ wallet, job, attempt });
    await adjust(s, wallet, -50);
    await dead(s);
    const block = await blocked(s);
    await s.db.advance(HOUR + 1);
    await s.recoup.alerts.look();
    await s.recoup.upstreams.free(block);
    await s.recoup.alerts.look();
    const counts = [...of].map(([kind, endpoint]) => ({ kind, endpoint, count: kind === 'wallet.low' ? 2 : 1 }));
    for (const { endpoint, count } of counts) await told(s, endpoint, count);
    for (const { kind, endpoint, count } of counts)
      expect(kindsOf(await told(s, endpoint, count))).toEqual(Array(count).fill(kind));
  },
);

onEvery('a balance is told of with the entry that takes it below a line, and with no other', async (s) => {
  const of = await endpointOf(s, ['wallet.low', 'wallet.debt'], { lowBalance: 50 });
  const wallet = await s.wallet(0);
  for (const amount of [200, -150, -1, -1, -48, -1, -1, 100, -10]) await adjust(s, wallet, amount);
  // All of that is final when this is.
  await adjust(s, await s.wallet(0), -1);
  const deliveries = await told(s, of, 3);
  const of_it = deliveries.filter(({ payload }) => payload.data.wallet === wallet);
  expect(of_it.map(({ kind, payload }) => `${kind} ${payload.data.balance}`).sort()).toEqual([
    'wallet.debt -1',
    'wallet.low 49',
  ]);
  expect(deliveries).toHaveLength(3);
});

onEvery(
  'an item of the inbox opens with the event that takes the end of its block away, and closes with it',
  async (s) => {
    const of = await endpointOf(s, ['inbox.opened', 'inbox.closed']);
    const { names } = await poolOf(s, 2);
    const [upstream, other] = names as [string, string];
    const fails = async (policy: 'auto' | 'manual', on = upstream) => {
      await s.db.advance(SECOND);
      return (
        await s.recoup.upstreams.report({ upstream: on, success: false, block: { ...soft, source: 'backoff', policy } })
      ).block!;
    };
    const block = await fails('auto');
    expect([await fails('manual'), await fails('manual'), await fails('auto')]).toEqual([block, block, block]);
    await s.recoup.upstreams.free(block);
    // One that ends by itself is none, and is over before the last one opens.
    await s.recoup.upstreams.free(await fails('auto', other));
    const last = await blocked(s);
    const items = (await told(s, of, 3)).map(({ kind, payload }) => `${kind} ${payload.data.item}`);
    expect(items.sort()).toEqual([
      `inbox.closed block:${block}`,
      ...[`inbox.opened block:${block}`, `inbox.opened block:${last}`].sort(),
    ]);
  },
);

onEvery('what happens behind a transaction that is open is told of when that is over, of each table', async (s) => {
  const events = await oneOfEach(s);
  await settled(s);
  const endpoints = await Promise.all(events.map(([kind]) => endpointOf(s, [kind])));
  const client = await s.client();
  await client.query('begin; select pg_current_xact_id()');
  for (const [, make] of events) await make();
  for (const endpoint_id of endpoints)
    for (let i = 0; i < 2; i++) expect((await asked(s, dispatchEvents, { endpoint_id, count: 1 }))[0]!.made).toBe(0);
  await client.query('commit');
  for (const [i, [kind]] of events.entries()) expect(kindsOf(await told(s, endpoints[i]!, 1))).toEqual([kind]);
});

onEvery('an endpoint is written for what happens in its tables, else once a minute', async (s) => {
  const events = await oneOfEach(s);
  const names = await Promise.all(events.map(([kind]) => endpointOf(s, [kind])));
  const all = await endpointOf(s, EVENT_KINDS, { lowBalance: 0 });
  const looked = async () => {
    const at = new Map(
      (await s.recoup.webhooks.list()).map(({ endpoint, lookedAt }) => [endpoint, lookedAt.getTime()]),
    );
    return names.map((name) => at.get(name)!);
  };
  const count = async (kind: EventKind) =>
    kindsOf(await s.recoup.webhooks.deliveries(all, { limit: 1000 })).filter((one) => one === kind).length;
  /** Until it is told of what was made, and everybody has looked once more. */
  const after = async (kind: EventKind, make: () => Promise<unknown>) => {
    const before = await count(kind);
    await make();
    await until(async () => {
      await s.recoup.webhooks.dispatch();
      return (await count(kind)) > before;
    });
    await s.recoup.webhooks.dispatch();
  };
  await after('job.dead', () => dead(s));
  for (const [index, [kind, make]] of events.entries()) {
    const before = await looked();
    await s.db.advance(SECOND);
    await after(kind, make);
    expect([kind, (await looked()).map((at, i) => at > before[i]!)]).toEqual([kind, names.map((_, i) => i === index)]);
  }
  await s.db.advance(61 * SECOND);
  const now = (await s.db.now()).getTime();
  await until(async () => {
    await s.recoup.webhooks.dispatch();
    return (await looked()).every((at) => at === now);
  });
});

onEvery('one that was switched off meanwhile is told of nothing, whoever looks', async (s) => {
  const of = await endpointOf(s, ['job.dead']);
  await s.recoup.webhooks.change({ endpoint: of, status: 'off' });
  await dead(s);
  await settled(s);
  expect(await asked(s, dispatchEvents, { endpoint_id: of, count: 9 })).toEqual([{ made: 0, more: false }]);
  await s.recoup.webhooks.change({ endpoint: of, status: 'on' });
  // Its own, and the one by which it was settled.
  expect(await told(s, of, 2)).toHaveLength(2);
});

onEvery('what is read again after a new epoch was never told to who came after it, or left it out', async (s) => {
  const early = await endpointOf(s, ['job.dead']);
  const leaving = await endpointOf(s, ['job.dead'], { status: 'off' });
  await s.db.advance(SECOND);
  const since = await s.db.now();
  await dead(s);
  expect(await told(s, early, 1)).toHaveLength(1);
  await s.recoup.epochs.open({ reason: 'failover', actor: 'ann', since });
  const late = await endpointOf(s, ['job.dead']);
  await s.recoup.webhooks.change({ endpoint: leaving, status: 'on', skip: true });
  const { job } = await dead(s);
  for (const [endpoint, count] of [
    [early, 2],
    [late, 1],
    [leaving, 1],
  ] as const) {
    const deliveries = await told(s, endpoint, count);
    expect(deliveries).toHaveLength(count);
    expect(deliveries.map(({ payload }) => payload.data.job)).toContain(job);
  }
});

onEvery('after all of it the books are right', booksAreRight);
