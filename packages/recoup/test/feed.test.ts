// The feed: every entry and every end of an attempt once, in an order that never changes, nothing before it is final.
import { expect } from 'vitest';
import type { FeedEvent, Recoup } from '../src/index.ts';
import { answer, refusal, times } from './support/look.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';

const { onEvery, onFirst } = staging();

const named = (event: FeedEvent) =>
  event.kind === 'entry'
    ? `${event.wallet} ${event.seq}`
    : `${event.wallet} ${event.job} ${event.attempt} ${event.endedAs}`;

/** Everything from a cursor on. */
async function readAll(
  { feed }: Recoup,
  from: string | null,
  limit: number,
): Promise<{ events: FeedEvent[]; cursor: string | null }> {
  const events: FeedEvent[] = [];
  let cursor = from;
  for (;;) {
    const page = await feed.read(cursor, limit);
    events.push(...page.events);
    cursor = page.cursor;
    if (page.events.length === 0) return { events, cursor };
  }
}

async function everything({ db }: Stage): Promise<string[]> {
  const rows = await db.query(`select wallet_id || ' ' || seq as name from recoup.entries
    union all select wallet_id || ' ' || job_id || ' ' || attempt || ' ' || ended_as from recoup.attempts`);
  return rows.map(({ name }) => String(name)).sort();
}

async function work(s: Stage, recoup: Recoup, rounds: number): Promise<void> {
  const [wallet, queue] = [await s.wallet(1000), newId('queue')];
  for (let round = 0; round < rounds; round++) {
    const jobs = times(5, (i) => ({ wallet, job: `${round} ${i}`, queue, price: 1 }));
    await recoup.jobs.submitMany(jobs);
    await recoup.jobs.lease({ queue, count: 5 });
    await recoup.jobs.failMany(jobs.map(({ job }) => ({ wallet, job, attempt: 1 })));
    await recoup.jobs.succeedMany(jobs.slice(1).map(({ job }) => ({ wallet, job, finalPrice: 2 })));
    await recoup.jobs.cancel({ wallet, job: `${round} 0` });
  }
}

onEvery('read in pages of any size, from any cursor, it has every event once and in the same order', async (s) => {
  await work(s, s.recoup, 4);
  // Final is what lies below the oldest write anywhere on the server: other tests may hold it back for a while.
  const all = await everything(s);
  await until(async () => (await readAll(s.recoup, null, 5000)).events.length === all.length);
  const { events } = await readAll(s.recoup, null, 5000);
  expect(events.map(named).sort()).toEqual(all);
  for (const limit of [1, 2, 3, 7]) expect((await readAll(s.recoup, null, limit)).events).toEqual(events);
  const { cursor } = await s.recoup.feed.read(null, 10);
  expect((await readAll(s.recoup, cursor, 100)).events).toEqual(events.slice(10));
  expect(events[0]).toMatchObject({
    kind: 'entry',
    type: 'grant',
    amount: 1000,
    balance: 1000,
    key: 'start',
    job: null,
  });
});

onEvery('a reader beside many writers misses nothing and sees nothing twice, whatever commits late', async (s) => {
  const late = await s.client();
  const wallet = await s.wallet();
  await late.query('begin');
  await s.recoup.using(late).wallets.grant({ wallet, key: 'commits late', amount: 1 });
  const replicas = await Promise.all(times(3, () => s.replica()));
  let done = false;
  const writing = Promise.all([...replicas, ...replicas].map((replica) => work(s, replica, 5))).then(() => {
    done = true;
  });
  const seen: string[] = [];
  let cursor: string | null = null;
  const follow = async () => {
    const page: { events: FeedEvent[]; cursor: string | null } = await s.recoup.feed.read(cursor, 13);
    cursor = page.cursor;
    seen.push(...page.events.map(named));
    return page.events.length;
  };
  while (!done) await follow();
  await writing;
  // The open transaction holds back what began after it; nothing of it is lost.
  expect(seen.length).toBeLessThan((await everything(s)).length);
  await late.query('commit');
  const all = await everything(s);
  await until(async () => (await follow()) === 0 && seen.length >= all.length);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.toSorted()).toEqual(all);
});

onFirst('a cursor that the feed did not give is refused, and so is a limit out of range', async (s) => {
  for (const cursor of ['', 'x', 'e30', Buffer.from('[1,2]').toString('base64url'), '\u0000', 5, {}]) {
    expect((await refusal(s.recoup.feed.read(cursor as string))).details.field).toBe('cursor');
  }
  for (const limit of [0, -1, 1.5, 5001, '5'])
    expect(await answer(s.recoup.feed.read(null, limit as number))).toBe('invalid');
});

onEvery('the books are right', booksAreRight);
