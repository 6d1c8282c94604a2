// Races of work joined to capacity, on real servers: who leases, reports, lapses or cancels at the same moment, from several replicas.
import { expect } from 'vitest';
import type { LeasedJob, Recoup } from '../src/index.ts';
import { answers, joined, keyOf, slotsOut, take } from './support/joined.ts';
import { answer, ledger, stateOf, tally, times } from './support/look.ts';
import { MINUTE } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

const REPLICAS = 5;
const replicasOf = (s: Stage) => Promise.all(times(REPLICAS, () => s.replica({ maxConnections: 6 })));

onEvery(
  'five replicas that lease at once get as many pairs as there are slots, the first jobs, each once',
  async (s) => {
    const { pool, names, queue, ids } = await joined(s, 3, 40, { maxConcurrency: 4 });
    const replicas = await replicasOf(s);
    const got: LeasedJob[] = [];
    // Where others held what was free in that moment, who got nothing asks again, as a worker does.
    for (let round = 0; got.length < 12 && round < 50; round++) {
      const leases = replicas.flatMap((one) => [one.jobs.lease({ queue, count: 5 }), one.jobs.lease({ queue })]);
      got.push(...(await Promise.all(leases)).flat());
      for (const out of Object.values(await slotsOut(s, pool))) expect(out).toBeLessThanOrEqual(4);
    }
    expect(new Set(got.map(({ job }) => job.id)).size).toBe(12);
    expect(got.map(({ job }) => job.id).sort()).toEqual(ids.slice(0, 12));
    expect(await slotsOut(s, pool)).toEqual(Object.fromEntries(names.map((name) => [name, 4])));
    expect((await s.recoup.jobs.claim({ queue })).out).toMatchObject({ reason: 'slots' });
  },
);

onEvery('of many that lease at once when a pool is half open exactly one gets the trial', async (s) => {
  const { queue } = await joined(s, 1, 20);
  const pair = await take(s, queue);
  await s.recoup.jobs.report({ ...keyOf(pair), answer: answers.limited });
  await s.db.advance(MINUTE);
  const replicas = await replicasOf(s);
  const got = (await Promise.all(times(30, (i) => replicas[i % REPLICAS]!.jobs.lease({ queue })))).flat();
  expect(got.map(({ job }) => [job.id, job.attempt])).toEqual([['job-000', 2]]);
});

onEvery(
  'a claim of several takes as many pairs as it may: one slot of each, one trial of what is shared',
  async (s) => {
    const { pool, names, queue, ids } = await joined(s, 5, 30, { maxConcurrency: 2, quotaGroup: newId('group') });
    const all = (pairs: LeasedJob[]) => pairs.map(({ job }) => job.id).sort();
    expect(all(await s.recoup.jobs.lease({ queue, count: 7 }))).toEqual(ids.slice(0, 7));
    expect(Object.values(await slotsOut(s, pool)).sort()).toEqual([1, 1, 1, 2, 2]);
    // Who asks for the same at once shares a claim, and gets what he would have got by himself.
    const shared = await Promise.all([s.recoup.jobs.lease({ queue, count: 2 }), s.recoup.jobs.lease({ queue })]);
    expect([shared.map((one) => one.length), all(shared.flat())]).toEqual([[2, 1], ids.slice(7, 10)]);
    const [nothing, ...others] = await Promise.all(times(3, () => s.recoup.jobs.claim({ queue })));
    expect(nothing).toMatchObject({ jobs: [], out: { pool, reason: 'slots' } });
    for (const other of others) expect(other).toEqual(nothing);
    for (const pair of [...shared.flat()]) await s.recoup.jobs.report({ ...keyOf(pair), answer: answers.fine });
    const block = {
      subject: 'quota_group',
      kind: 'rate_limited',
      source: 'backoff',
      policy: 'auto',
      forMs: 1000,
    } as const;
    await s.recoup.upstreams.report({ upstream: names[0]!, success: false, key: newId('key'), block });
    await s.db.advance(MINUTE - 1000);
    expect(all(await s.recoup.jobs.lease({ queue, count: 7 }))).toEqual(ids.slice(10, 11));
  },
);

onEvery('one request id from five replicas at once is one pair', async (s) => {
  const { pool, queue } = await joined(s, 2, 10, { maxConcurrency: 5 });
  const replicas = await replicasOf(s);
  const lease = (one: Recoup) => one.jobs.lease({ queue, count: 2, requestId: 'same' });
  const got = await Promise.all(replicas.map(lease));
  for (const one of got) expect(one.map(keyOf)).toEqual(got[0]!.map(keyOf));
  expect(Object.values(await slotsOut(s, pool)).reduce((a, b) => a + b)).toBe(2);
});

onEvery('a report, its repeats, a lapse and a cancel at once: one of them decides, and the slot is free', async (s) => {
  const { pool, queue, wallet } = await joined(s, 12, 12);
  const replicas = await replicasOf(s);
  for (let n = 0; n < 12; n++) {
    const pair = keyOf(await take(s, queue));
    const said = [answers.limited, answers.fine, answers.tooLong][n % 3]!;
    if (n >= 6) await s.db.advance(MINUTE);
    const report = (one: Recoup) => answer(one.jobs.report({ ...pair, answer: said }));
    const third = n % 2 === 0 ? replicas[2]!.sweep() : replicas[2]!.jobs.cancel({ wallet, job: pair.job });
    const [one, other] = await Promise.all([report(replicas[0]!), report(replicas[1]!), third, replicas[3]!.sweep()]);
    const decided = tally(
      [one, other].map((told) => (/^(released|succeeded|reclaimed|dead)$/.test(told) ? 'decided' : told)),
    );
    // A late `tooLong` upgrades what lapsed; a cancel that came first refuses a success.
    expect(decided.decided ?? 0).toBeLessThanOrEqual(said === answers.fine ? 1 : 2);
    const { state } = await stateOf(s, pair);
    expect(['queued', 'succeeded', 'dead', 'canceled']).toContain(state);
    expect(await slotsOut(s, pool)).toEqual({});
    await s.recoup.jobs.cancel({ wallet, job: pair.job }).catch(() => {});
  }
  expect((await ledger(s, wallet)).filter((entry) => entry === 'refund 10').length).toBeLessThanOrEqual(12);
  await booksAreRight(s);
});

onEvery(
  'a storm of leases, answers of every kind, extensions and lapses ends with every job decided once, and nothing held',
  async (s) => {
    const { pool, queue, wallet, ids } = await joined(s, 6, 120, { maxConcurrency: 3 });
    await s.recoup.queues.configure(queue, { backoffBaseMs: 0, backoffMaxMs: 0, maxReleases: 1000 });
    const replicas = await replicasOf(s);
    const errors: unknown[] = [];
    let calls = 0;
    const left = async () =>
      Number(
        (
          await s.db.query(
            `select count(*)::int as n from recoup.jobs where queue = $1 and state in ('queued', 'running', 'waiting')`,
            [queue],
          )
        )[0]!.n,
      );
    const worker = async (one: Recoup, seed: number) => {
      for (let n = 0; n < 400 && (await left()) > 0; n++) {
        const { jobs } = await one.jobs.claim({ queue, count: 1 + (n % 3) });
        if (jobs.length === 0) await s.db.advance(31_000);
        await Promise.all(
          jobs.map(async (pair) => {
            const key = keyOf(pair);
            const kind = (calls++ * 7 + seed) % 20;
            if (kind === 0) return;
            if (kind === 1) await one.jobs.extend({ ...key, leaseMs: MINUTE });
            const said =
              kind < 4 ? answers.limited : kind < 6 ? answers.broken : kind === 7 ? answers.tooLong : answers.fine;
            await one.jobs.report({ ...key, answer: said });
          }),
        ).catch((error: unknown) => errors.push(error));
        if (n % 5 === 0) await one.sweep();
      }
    };
    await Promise.all(replicas.map(worker));
    expect(errors).toEqual([]);
    expect(s.complaints).toEqual([]);
    expect(await left()).toBe(0);
    expect(await slotsOut(s, pool)).toEqual({});
    const succeeded = await Promise.all(
      ids.map(async (job) => (await stateOf(s, { wallet, job })).state === 'succeeded'),
    );
    expect(await s.recoup.wallets.balance(wallet)).toMatchObject({
      booked: (ids.length - succeeded.filter(Boolean).length) * 10,
    });
    await booksAreRight(s);
  },
);

onFirst('a wallet that a caller holds holds up its own reports only', async (s) => {
  const { queue } = await joined(s, 3, 1);
  const other = await joined(s, 3, 6);
  const held = keyOf(await take(s, queue));
  const holder = await s.client();
  await holder.query('begin');
  await holder.query('select from recoup.wallets where id = $1 for update', [held.wallet]);
  const waiting = times(8, () => answer(s.recoup.jobs.report({ ...held, answer: answers.fine })));
  for (let n = 0; n < 6; n++) {
    const pair = keyOf(await take(s, other.queue));
    expect(await answer(s.recoup.jobs.report({ ...pair, answer: answers.fine }))).toBe('succeeded');
  }
  await holder.query('rollback');
  expect(tally(await Promise.all(waiting))).toEqual({ succeeded: 1, duplicate: 7 });
});
