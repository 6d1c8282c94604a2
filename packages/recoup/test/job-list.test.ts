// The jobs of a wallet, newest first, page by page; items of batches that are refused by name; instants as Dates.
import { expect } from 'vitest';
import type { InTransaction, ListOptions } from '../src/index.ts';
import { refusal, times } from './support/look.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';

const { onEvery, onFirst } = staging();

async function all({ recoup }: Stage, wallet: string, options: ListOptions = {}): Promise<string[]> {
  const ids: string[] = [];
  let cursor: number | null = null;
  do {
    const page: Awaited<ReturnType<typeof recoup.jobs.list>> = await recoup.jobs.list(
      wallet,
      cursor === null ? options : { ...options, cursor },
    );
    expect(page.jobs.length).toBeLessThanOrEqual(options.limit ?? 100);
    ids.push(...page.jobs.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== null);
  return ids;
}

onEvery('newest first, every one once, in pages of any size, whatever else is in the ledger', async (s) => {
  const wallet = await s.wallet(1000);
  const queue = newId('queue');
  const ids: string[] = [];
  for (let i = 0; i < 30; i++) {
    const job = `job ${i}`;
    ids.unshift(job);
    await s.recoup.jobs.submit({ wallet, job, queue: i % 3 === 0 ? null : queue, price: i });
    if (i % 2 === 0) await s.recoup.wallets.grant({ wallet, key: `grant ${i}`, amount: 5 });
    if (i % 5 === 0) await s.recoup.jobs.cancel({ wallet, job, keep: 1 });
  }
  const other = await s.wallet(10);
  await s.recoup.jobs.submit({ wallet: other, job: 'not mine', queue: null, price: 1 });
  for (const limit of [1, 2, 7, 30, 1000]) expect(await all(s, wallet, { limit })).toEqual(ids);
  const canceled = ids.filter((id) => Number(id.slice(4)) % 5 === 0);
  const queued = ids.filter((id) => Number(id.slice(4)) % 3 !== 0);
  for (const limit of [1, 4, 100]) {
    expect(await all(s, wallet, { limit, state: 'canceled' })).toEqual(canceled);
    expect(await all(s, wallet, { limit, queue })).toEqual(queued);
    expect(await all(s, wallet, { limit, queue, state: 'canceled' })).toEqual(
      queued.filter((id) => canceled.includes(id)),
    );
  }
  expect(await all(s, wallet, { state: 'dead' })).toEqual([]);
  const { jobs } = await s.recoup.jobs.list(wallet, { limit: 1 });
  expect(jobs[0]).toEqual((await s.recoup.jobs.get({ wallet, job: 'job 29' })).job);
});

onEvery('a filter that matches far down goes on page by page, and ends', async (s) => {
  const wallet = await s.wallet(10_000);
  const [oldest, ...rest] = times(2500, (i) => ({ wallet, job: `job ${i}`, queue: null, price: 1 }));
  await s.recoup.jobs.submit(oldest!);
  await s.recoup.jobs.succeed({ wallet, job: oldest!.job });
  await s.recoup.jobs.submitMany(rest);
  const first = await s.recoup.jobs.list(wallet, { state: 'succeeded' });
  expect(first.jobs).toEqual([]);
  const second = await s.recoup.jobs.list(wallet, { state: 'succeeded', cursor: first.cursor! });
  expect(second.jobs.map(({ id }) => id)).toEqual(['job 0']);
  expect(second.cursor).toBeNull();
});

onFirst('what is not there, and what is not allowed', async (s) => {
  const wallet = await s.wallet(0);
  expect(await s.recoup.jobs.list(wallet)).toEqual({ jobs: [], cursor: null });
  expect((await refusal(s.recoup.jobs.list('nobody'))).code).toBe('no_wallet');
  for (const [options, field] of [
    [{ state: 'late' }, 'state'],
    [{ queue: '' }, 'queue'],
    [{ limit: 0 }, 'limit'],
    [{ limit: 1001 }, 'limit'],
    [{ cursor: '1' }, 'cursor'],
    [{ cursor: 0 }, 'cursor'],
    [{ label: 'x' }, 'label'],
  ] as const) {
    expect((await refusal(s.recoup.jobs.list(wallet, options as never))).details.field).toBe(field);
  }
});

type Batch = 'submitMany' | 'failMany' | 'succeedMany' | 'grantMany';
const batches: Record<
  Batch,
  { good: object; call: (r: InTransaction, items: never) => Promise<unknown>; bad: [object, string][] }
> = {
  submitMany: {
    good: { job: 'j', queue: null, price: 1 },
    call: ({ jobs }, items) => jobs.submitMany(items),
    bad: [
      [{ price: -1 }, 'price'],
      [{ queue: '*' }, 'queue'],
      [{ priority: 1 }, 'priority'],
      [{ labels: { a: 1 } }, 'labels.a'],
      [{ payload: { deep: ['x\u0000'] } }, 'payload.deep[0]'],
      [{ notBefore: 'now', queue: 'q' }, 'notBefore'],
      [{ prize: 1 }, 'prize'],
    ],
  },
  failMany: {
    good: { job: 'j' },
    call: ({ jobs }, items) => jobs.failMany(items),
    bad: [
      [{ attempt: 0 }, 'attempt'],
      [{ verdict: 'maybe' }, 'verdict'],
      [{ job: '..' }, 'job'],
    ],
  },
  succeedMany: {
    good: { job: 'j' },
    call: ({ jobs }, items) => jobs.succeedMany(items),
    bad: [
      [{ finalPrice: 0.5 }, 'finalPrice'],
      [{ result: 2 ** 60 }, 'result'],
    ],
  },
  grantMany: {
    good: { key: 'k', amount: 1 },
    call: ({ wallets }, items) => wallets.grantMany(items),
    bad: [
      [{ amount: 0 }, 'amount'],
      [{ note: 'x\u0000' }, 'note'],
    ],
  },
};

onFirst(
  'an item of a batch that cannot be right is named with its place, and nothing of the batch is done',
  async (s) => {
    const wallet = await s.wallet(10);
    for (const [name, { good, call, bad }] of Object.entries(batches)) {
      const item = { wallet, ...good };
      for (const [more, field] of [...bad, [{ wallet: '' }, 'wallet'] as const]) {
        for (const place of [0, 3]) {
          const items = times(5, (i) => (i === place ? { ...item, ...more } : item));
          const refused = await refusal(call(s.recoup, items as never));
          expect([name, refused.code, refused.details.field]).toEqual([name, 'invalid', `${name}[${place}].${field}`]);
          expect(refused.message.startsWith(`${name}[${place}].${field}: `)).toBe(true);
        }
      }
      expect((await refusal(call(s.recoup, [item, null] as never))).details.field).toBe(`${name}[1]`);
      expect((await refusal(call(s.recoup, item as never))).details.field).toBe(name);
      // The single forms name the field alone.
    }
    expect((await refusal(s.recoup.jobs.succeed({ wallet, job: '..' }))).details.field).toBe('job');
    expect((await s.recoup.wallets.balance(wallet)).lastSeq).toBe(1);
  },
);

onEvery('instants are Dates: of attempts and of the feed as of everything else', async (s) => {
  const { wallet, job, attempt } = await s.running(5);
  await s.recoup.jobs.fail({ wallet, job, attempt });
  const [ended] = await s.recoup.jobs.attempts({ wallet, job });
  expect(ended!.startedAt).toBeInstanceOf(Date);
  expect(ended!.endedAt).toBeInstanceOf(Date);
  const late = await s.external(5);
  await s.recoup.jobs.succeed(late);
  expect((await s.recoup.jobs.attempts(late))[0]).toMatchObject({ endedAs: 'succeeded', endedAt: expect.any(Date) });
  // Transactions of other tests hold the feed back while they last.
  const events = await until(async () => {
    const page = await s.recoup.feed.read(null, 5000);
    return page.events.length > 0 && page.events;
  });
  for (const { at } of events) expect(at).toBeInstanceOf(Date);
});

onEvery(
  'the end of an attempt says who worked on it and since when; a success of another attempt is not his',
  async (s) => {
    const own = await s.running(1);
    await s.recoup.jobs.extend({ wallet: own.wallet, job: own.job, attempt: 1, upstreamRef: 'own ref' });
    await s.recoup.jobs.succeed({ wallet: own.wallet, job: own.job, attempt: 1 });
    const [ended] = await s.recoup.jobs.attempts({ wallet: own.wallet, job: own.job });
    expect(ended).toMatchObject({
      endedAs: 'succeeded',
      worker: 'tester',
      upstreamRef: 'own ref',
      startedAt: expect.any(Date),
    });

    const late = await s.running(1);
    const key = { wallet: late.wallet, job: late.job };
    await s.recoup.jobs.fail({ ...key, attempt: 1 });
    await s.lease(late.queue);
    await s.recoup.jobs.extend({ ...key, attempt: 2, upstreamRef: 'second ref' });
    await s.recoup.jobs.succeed({ ...key, attempt: 1 });
    const ends = await s.recoup.jobs.attempts(key);
    const nobody = { worker: null, upstreamRef: null, startedAt: null };
    expect(ends.find(({ endedAs }) => endedAs === 'succeeded')).toMatchObject({ attempt: 1, ...nobody });
    expect(ends.find(({ endedAs }) => endedAs === 'superseded')).toMatchObject({
      attempt: 2,
      worker: 'tester',
      upstreamRef: 'second ref',
    });
  },
);

onEvery('a cancel that is repeated with another part kept changes nothing, and says what was kept', async (s) => {
  const wallet = await s.wallet(10);
  await s.recoup.jobs.submit({ wallet, job: 'j', queue: null, price: 5 });
  expect(await s.recoup.jobs.cancel({ wallet, job: 'j', keep: 3 })).toMatchObject({ outcome: 'canceled', kept: 3 });
  expect(await s.recoup.jobs.cancel({ wallet, job: 'j', keep: 4 })).toMatchObject({ outcome: 'duplicate', kept: 3 });
  expect(await s.recoup.jobs.cancel({ wallet, job: 'j' })).toMatchObject({ outcome: 'duplicate', kept: 3 });
  // Who means to change the number settles, and is told.
  const refused = await refusal(s.recoup.jobs.settle({ wallet, job: 'j', finalPrice: 4 }));
  expect(refused).toMatchObject({ code: 'conflict', details: { finalPrice: 3 } });
  expect((await s.recoup.wallets.balance(wallet)).booked).toBe(7);
});

onEvery('the books are right', booksAreRight);
