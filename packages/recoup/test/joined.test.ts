// Work joined to capacity: a job is leased together with an upstream of its queue's pool, and what the provider answers decides about both.
import { expect } from 'vitest';
import { answers, joined, keyOf, slotsOut, take } from './support/joined.ts';
import { answer, ledger, refusal, stateOf } from './support/look.ts';
import { failing, HOUR, MINUTE, SECOND } from './support/pools.ts';
import { booksAreRight, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

onEvery('a job is leased together with an upstream of the pool, and its success gives the slot back', async (s) => {
  const { names, queue, ids } = await joined(s, 1, 1, { maxConcurrency: 1, credentialRef: 'vault/one' });
  const [leased] = await s.recoup.jobs.lease({ queue, worker: 'tester' });
  expect(leased!.upstream).toMatchObject({ upstream: names[0], credentialRef: 'vault/one' });
  expect(leased!.job).toMatchObject({ id: ids[0], attempt: 1, upstream: names[0], worker: 'tester' });
  expect(await failing(s, names[0]!)).toEqual(['slots']);
  const done = { ...keyOf(leased!), answer: answers.fine, result: { drawn: true } };
  const first = await s.recoup.jobs.report(done);
  expect(first).toMatchObject({ means: 'success', outcome: 'succeeded', upstream: { outcome: 'noted', class: null } });
  expect(await failing(s, names[0]!)).toEqual([]);
  expect(await s.recoup.jobs.report(done)).toMatchObject({ outcome: 'duplicate', upstream: { outcome: 'duplicate' } });
  const { wallet, job } = done;
  expect(await s.recoup.jobs.attempts({ wallet, job })).toMatchObject([{ endedAs: 'succeeded', upstream: names[0] }]);
});

onEvery('without a usable upstream nothing is leased, and the answer says why and until when', async (s) => {
  const { names, pool, queue, wallet, ids } = await joined(s, 1, 2);
  const reported = await s.recoup.jobs.report({ ...keyOf(await take(s, queue)), answer: answers.limited });
  expect(reported).toMatchObject({ means: 'release', outcome: 'released', upstream: { outcome: 'blocked' } });
  expect(await failing(s, names[0]!)).toEqual(['blocked']);
  const { jobs, out } = await s.recoup.jobs.claim({ queue, count: 2 });
  expect(jobs).toEqual([]);
  expect(out).toMatchObject({ pool, reason: 'rate_limited', estimate: { source: 'retry_after' } });
  expect(out!.retryAfterMs).toBeGreaterThan(25 * SECOND);
  expect(out!.expectedRecoveryAt).toBeInstanceOf(Date);
  expect(await stateOf(s, { wallet, job: ids[0]! })).toMatchObject({ state: 'queued', failures: 0, releases: 1 });
  expect(await ledger(s, wallet)).toEqual(['charge -10', 'charge -10']);
});

onFirst(
  'a queue whose pool nobody registered an upstream in says so; one of which all need a person has no time',
  async (s) => {
    const { names, queue } = await joined(s, 1, 1);
    await s.recoup.upstreams.block(names[0]!, { reason: 'maintenance' });
    const manual = await s.recoup.jobs.claim({ queue });
    expect(manual.out).toMatchObject({ reason: 'operator', expectedRecoveryAt: null, retryAfterMs: 300_000 });
    await s.recoup.queues.configure(queue, { pool: 'nobody' });
    expect((await s.recoup.jobs.claim({ queue })).out).toMatchObject({ pool: 'nobody', reason: 'no_upstream' });
  },
);

for (const [name, kind] of Object.entries({
  limited: 'rate_limited',
  revoked: 'auth_revoked',
  broken: 'server_error',
  lost: 'server_error',
})) {
  onFirst(`an upstream that answers "${name}" gives the job back to its place: no failure, no refund`, async (s) => {
    const { queue, wallet, ids } = await joined(s, 2, 3);
    const first = await take(s, queue);
    const before = await stateOf(s, { wallet, job: ids[1]! });
    const told = await s.recoup.jobs.report({ ...keyOf(first), answer: answers[name as 'lost'] });
    expect(told).toMatchObject({ means: 'release', outcome: 'released', refunded: false, upstream: { class: kind } });
    expect(told.notBefore!.getTime()).toBeLessThanOrEqual(before.notBefore!.getTime());
    // First in line again, with the other upstream.
    const again = await take(s, queue);
    expect(again.job).toMatchObject({ id: ids[0], attempt: 2, failures: 0, verdict: null, refundedAt: null });
    expect(again.upstream!.upstream).not.toBe(first.upstream!.upstream);
    const [ended] = await s.recoup.jobs.attempts({ wallet, job: ids[0]! });
    expect(ended).toMatchObject({ attempt: 1, endedAs: 'released', upstream: first.upstream!.upstream });
    expect(ended!.reason).toMatch(new RegExp(`^${kind}: `));
    expect(await s.recoup.jobs.report({ ...keyOf(first), answer: answers[name as 'lost'] })).toMatchObject({
      outcome: 'stale',
    });
  });
}

onEvery('an answer about the job itself fails it for good and refunds it; its upstream is not blamed', async (s) => {
  const { names, queue, wallet, ids } = await joined(s, 1, 1, { maxConcurrency: 1 });
  const told = { ...keyOf(await take(s, queue)), answer: answers.tooLong };
  expect(await s.recoup.jobs.report(told)).toMatchObject({ means: 'failure', outcome: 'dead', refunded: true });
  expect(await failing(s, names[0]!)).toEqual([]);
  expect(await stateOf(s, { wallet, job: ids[0]! })).toMatchObject({
    state: 'dead',
    failures: 1,
    verdict: 'definitive',
  });
  expect(await s.recoup.jobs.report(told)).toMatchObject({ outcome: 'duplicate', upstream: { outcome: 'duplicate' } });
  expect(await ledger(s, wallet)).toEqual(['charge -10', 'refund 10']);
});

onEvery(
  'trouble that the job may have brought about is put up with three times; then it is a failure with its back-off',
  async (s) => {
    const { queue, wallet } = await joined(s, 5, 1);
    for (let n = 1; n <= 3; n++) {
      const told = { ...keyOf(await take(s, queue)), answer: answers.broken };
      expect(await s.recoup.jobs.report(told)).toMatchObject({ means: 'release', outcome: 'released' });
      expect(await s.recoup.jobs.report(told)).toMatchObject({ means: 'release', outcome: 'duplicate' });
      // The provider is out as a whole after the third.
      await s.db.advance(10 * MINUTE);
    }
    const told = { ...keyOf(await take(s, queue)), answer: answers.broken };
    const failed = await s.recoup.jobs.report(told);
    expect(failed).toMatchObject({ means: 'failure', outcome: 'retrying', refunded: true });
    expect(failed.notBefore!.getTime()).toBeGreaterThan((await s.db.now()).getTime());
    expect(await s.recoup.jobs.report(told)).toMatchObject({ outcome: 'duplicate', refunded: false });
    expect(await stateOf(s, { wallet, job: 'job-000' })).toMatchObject({
      failures: 1,
      releases: 3,
      verdict: 'presumed',
    });
    expect(await ledger(s, wallet)).toEqual(['charge -10', 'refund 10']);
  },
);

onFirst('a limit is never the job’s fault, but not even that goes on for ever: maxReleases', async (s) => {
  const { queue } = await joined(s, 1, 1);
  await s.recoup.queues.configure(queue, { maxReleases: 5, maxUpstreamErrors: 0 });
  for (let n = 1; n <= 5; n++) {
    expect(await answer(s.recoup.jobs.report({ ...keyOf(await take(s, queue)), answer: answers.limited }))).toBe(
      'released',
    );
    await s.db.advance(2 * HOUR);
  }
  const told = { ...keyOf(await take(s, queue)), answer: answers.limited };
  expect(await s.recoup.jobs.report(told)).toMatchObject({ means: 'failure', outcome: 'retrying' });
});

onEvery('a repeated lease gives the same pairs, and takes no slot more', async (s) => {
  const { pool, queue } = await joined(s, 2, 5, { maxConcurrency: 2 });
  const asked = { queue, count: 3, requestId: 'request-1' };
  const first = await s.recoup.jobs.lease(asked);
  expect(first).toHaveLength(3);
  const again = await (await s.replica()).jobs.lease(asked);
  expect(again.map(keyOf)).toEqual(first.map(keyOf));
  expect(again.map(({ upstream }) => upstream)).toEqual(first.map(({ upstream }) => upstream));
  expect(Object.values(await slotsOut(s, pool)).reduce((a, b) => a + b)).toBe(3);
});

onEvery('the slot goes with the attempt: kept with it, given back with it, however it ends', async (s) => {
  const { pool, names, queue } = await joined(s, 1, 6, { maxConcurrency: 1 });
  const [upstream] = names as [string];
  const { jobs } = s.recoup;
  const free = async () => expect(await slotsOut(s, pool)).toEqual({});
  await jobs.succeed(keyOf(await take(s, queue)));
  await free();
  await jobs.fail({ ...keyOf(await take(s, queue)), verdict: 'definitive', retryable: false });
  await free();
  const given = keyOf(await take(s, queue));
  await jobs.release({ ...given, delayMs: HOUR });
  await free();
  await jobs.cancel({ wallet: given.wallet, job: keyOf(await take(s, queue)).job });
  await free();
  // Extended, it is kept as long; handed over, until the deadline.
  const kept = keyOf(await take(s, queue));
  await jobs.extend({ ...kept, leaseMs: 10 * MINUTE });
  await s.db.advance(9 * MINUTE);
  expect(await slotsOut(s, pool)).toEqual({ [upstream]: 1 });
  await jobs.handOver({ ...kept, deadlineMs: HOUR });
  await s.db.advance(59 * MINUTE);
  expect(await slotsOut(s, pool)).toEqual({ [upstream]: 1 });
  // A provider that says so in its callback fails it as one that answers.
  expect(await answer(jobs.report({ ...kept, answer: answers.limited }))).toBe('released');
  await free();
});

onEvery('a lapsed lease frees the slot by itself; what the provider answers late counts for both', async (s) => {
  const { pool, queue, wallet } = await joined(s, 1, 2, { maxConcurrency: 1 });
  await s.recoup.queues.configure(queue, { backoffBaseMs: HOUR, backoffMaxMs: HOUR });
  const late = keyOf(await take(s, queue));
  await s.db.advance(MINUTE);
  expect(await slotsOut(s, pool)).toEqual({});
  expect((await take(s, queue)).job.id).toBe('job-001');
  await s.recoup.sweep();
  const told = await s.recoup.jobs.report({ ...late, answer: answers.fine, result: 'late' });
  expect(told).toMatchObject({
    means: 'success',
    outcome: 'reclaimed',
    reclaimed: true,
    upstream: { outcome: 'noted' },
  });
  expect(await ledger(s, wallet)).toEqual(['charge -10', 'charge -10', 'refund 10', 'reclaim -10']);
});

onFirst(
  'the end of an attempt says on which upstream it ran, and a late success of another attempt names none',
  async (s) => {
    const { queue, wallet } = await joined(s, 2, 1);
    await s.recoup.queues.configure(queue, { backoffBaseMs: 0 });
    const first = await take(s, queue);
    await s.db.advance(MINUTE);
    await s.recoup.sweep();
    const second = await take(s, queue);
    await s.recoup.jobs.report({ ...keyOf(first), answer: answers.fine });
    const ends = await s.recoup.jobs.attempts({ wallet, job: 'job-000' });
    const said = ends.map(({ attempt, endedAs, upstream }) => `${attempt} ${endedAs} ${upstream}`);
    expect(said.sort()).toEqual([
      `1 lapsed ${first.upstream!.upstream}`,
      '1 succeeded null',
      `2 superseded ${second.upstream!.upstream}`,
    ]);
  },
);

onFirst('an idle queue uses nobody’s turn, and a paused one gives nothing', async (s) => {
  const { pool, queue, wallet } = await joined(s, 2, 0);
  await s.recoup.upstreams.select({ pool });
  const turns = `select json_agg(u order by id)::text as rows from recoup.upstreams u where pool = $1`;
  const [before] = await s.db.query(turns, [pool]);
  for (let n = 0; n < 3; n++) expect(await s.recoup.jobs.claim({ queue })).toEqual({ jobs: [], out: null });
  await s.recoup.queues.configure(queue, { paused: true });
  await s.recoup.jobs.submit({ wallet, job: 'one', queue, price: 0 });
  expect(await s.recoup.jobs.claim({ queue })).toEqual({ jobs: [], out: null });
  expect((await s.db.query(turns, [pool]))[0]).toEqual(before);
});

onFirst('a pool is a setting of the queue like others: taken away, jobs are leased alone', async (s) => {
  const { pool, queue } = await joined(s, 1, 2, { maxConcurrency: 1 });
  expect(await s.recoup.queues.get(queue)).toMatchObject({ pool, maxUpstreamErrors: 3 });
  expect((await s.recoup.queues.configure(queue, { leaseMs: 5000 })).pool).toBe(pool);
  await take(s, queue);
  expect((await s.recoup.queues.configure(queue, { pool: null })).pool).toBe(null);
  const alone = await take(s, queue);
  expect(alone.upstream).toBe(null);
  const { details } = await refusal(s.recoup.jobs.report({ ...keyOf(alone), answer: answers.fine }));
  expect(details).toMatchObject({ field: 'attempt' });
  expect((await refusal(s.recoup.queues.configure(queue, { pool: '' }))).code).toBe('invalid');
});

onFirst('a block of one model leaves the jobs of others alone', async (s) => {
  const { pool, queue } = await joined(s, 1, 2);
  const first = await s.recoup.jobs.lease({ queue, model: 'large' });
  const scoped = { kind: 'rate_limited', policy: 'auto', scope: 'model:large' } as const;
  await s.recoup.upstreams.report({ upstream: first[0]!.upstream!.upstream, success: false, block: scoped });
  await s.recoup.jobs.release(keyOf(first[0]!));
  expect((await s.recoup.jobs.claim({ queue, model: 'large' })).out).toMatchObject({ pool });
  expect((await s.recoup.jobs.claim({ queue, model: 'small' })).jobs).toHaveLength(1);
});

onFirst('what was used is booked once per attempt, also where the result is refused', async (s) => {
  const { names, queue } = await joined(s, 1, 2);
  const limit = {
    limit: `${names[0]}-day`,
    upstream: names[0]!,
    unit: 'tokens',
    amount: 1000,
    kind: 'daily',
    zone: 'UTC',
  } as const;
  await s.recoup.upstreams.limits.set(limit);
  const told = { ...keyOf(await take(s, queue)), answer: answers.fine, use: { tokens: 70 } };
  for (let n = 0; n < 3; n++) await s.recoup.jobs.report(told);
  const canceled = { ...keyOf(await take(s, queue)), answer: answers.fine, use: { tokens: 5 } };
  await s.recoup.jobs.cancel({ wallet: canceled.wallet, job: canceled.job });
  expect(await answer(s.recoup.jobs.report(canceled))).toBe('canceled');
  expect(await s.recoup.upstreams.limits.list({ upstream: names[0]! })).toMatchObject([{ used: 75 }]);
});

onFirst('the books are right', booksAreRight);
