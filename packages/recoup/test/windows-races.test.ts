// Windows under rivals: many replicas roll, use and reset at once; each window ends once, and what is used is what was booked.
import fc from 'fast-check';
import { expect } from 'vitest';
import { render } from '../src/db/statement.ts';
import type { Recoup } from '../src/index.ts';
import { rollWindow } from '../src/windows/roll.ts';
import { book, daily, limited, type Of, used, windows } from './support/limits.ts';
import { tally, times } from './support/look.ts';
import { MINUTE, poolOf } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { untilWaiting, watch } from './support/waiting.ts';

const { onEvery } = staging();
const HOUR = 60 * MINUTE;
const right = async (s: Stage) => expect((await s.recoup.verify({ testClock: true })).problems).toEqual([]);

onEvery(
  'a transaction whose clock stands before what others have booked since books behind it, and resets behind it',
  async (s) => {
    // Before any test moves it: the clock is the server's, and that of a transaction stands at its beginning.
    const { upstream, limit } = await limited(s, 100, { kind: 'rolling', lengthMs: HOUR });
    const client = await s.client();
    await client.query('begin');
    await client.query('select now()');
    await book(s, upstream, 1);
    await s.recoup.using(client).upstreams.report({ upstream, success: true, key: newId('key') });
    expect(await s.recoup.using(client).upstreams.limits.reset(limit)).toEqual({ outcome: 'reset' });
    await client.query('commit');
    expect(await used(s, limit)).toBe(0);
    await book(s, upstream, 4);
    expect(await used(s, limit)).toBe(4);
    await right(s);
  },
);

onEvery(
  'ten replicas, 1,000 windows due at one midnight: 1,000 resets, what is lost is a duplicate, nothing fails',
  async (s) => {
    await s.db.setClock('2026-03-10T12:00:00Z');
    const told: string[] = [];
    const onTransition = (name: string, outcome: string) =>
      void (/^window\.(?!restart)/.test(name) && told.push(`${name} ${outcome}`));
    const replicas = await Promise.all(times(10, () => s.replica({ onTransition, maxConnections: 4 })));
    const { names } = await poolOf(s, 1000);
    const limit = (upstream: string) => `of ${upstream}`;
    const of = (upstream: string) => ({ limit: limit(upstream), upstream, unit: 'requests', amount: 5, ...daily });
    await Promise.all(names.map((upstream) => s.recoup.upstreams.limits.set(of(upstream))));
    await Promise.all(names.map((upstream, i) => book(s, upstream, 5, replicas[i % 10])));
    expect(tally(told.splice(0))).toEqual({ 'window.use booked': 1000 });
    await s.db.setClock('2026-03-11T00:00:00Z');
    await Promise.all(replicas.map((replica) => replica.sweep()));
    const { 'window.roll rolled': rolled, 'window.roll duplicate': lost = 0, ...others } = tally(told);
    expect([rolled, lost <= 9000, others]).toEqual([1000, true, {}]);
    const [row] = await s.db.query(
      `select count(*)::int as rows, count(distinct limit_id)::int as limits from recoup.windows where begun_by = 'roll' and limit_id like 'of %'`,
    );
    expect(row).toEqual({ rows: 1000, limits: 1000 });
    // No use, no reset: the next midnight costs nothing.
    told.length = 0;
    await s.db.setClock('2026-03-12T00:00:00Z');
    await Promise.all(replicas.map((replica) => replica.sweep()));
    expect(told).toEqual([]);
    expect(s.complaints).toEqual([]);
  },
);

onEvery('a use in the new window, then a replica with the old page: the use stands', async (s) => {
  await s.db.setClock('2026-04-10T12:00:00Z');
  const { upstream, limit } = await limited(s, 5);
  await book(s, upstream, 5);
  await s.db.setClock('2026-04-11T00:00:00Z');
  // What a sweep says of the page that it has read, held up at the row: it comes to it behind the use.
  const [client, sweeping] = [await s.client(), await s.client()];
  await client.query('begin');
  await s.recoup.using(client).upstreams.report({ upstream, success: true, key: newId('key'), use: { requests: 3 } });
  const page = JSON.stringify([{ limit_id: limit }]);
  const roll = () => sweeping.query(render(rollWindow, 'patient', 'recoup').text, [page]);
  const stale = watch(roll());
  await untilWaiting(s.db);
  await client.query('commit');
  const said = async (call: ReturnType<typeof roll>) => JSON.parse((await call).rows[0].answer).rows[0][1];
  expect([await said(stale.call), await said(roll())]).toEqual(['duplicate', 'duplicate']);
  await Promise.all([s.recoup.sweep(), (await s.replica()).sweep()]);
  expect(await used(s, limit)).toBe(3);
  expect((await windows(s, limit)).map((line) => line.split(' ').slice(2).join(' '))).toEqual(['5 use', '3 use']);
});

onEvery(
  'a reset by hand that is not committed: a use waits for it, and is of the new window; rolled back, of the old one',
  async (s) => {
    await s.db.setClock('2026-05-10T12:00:00Z');
    for (const ending of ['commit', 'rollback'] as const) {
      const { upstream, limit } = await limited(s, 9);
      await book(s, upstream, 5);
      const client = await s.client();
      await client.query('begin');
      expect(await s.recoup.using(client).upstreams.limits.reset(limit)).toEqual({ outcome: 'reset' });
      expect(await used(s, limit)).toBe(5);
      const use = watch(book(s, upstream, 2));
      await untilWaiting(s.db);
      expect(use.settled).toBe(false);
      await client.query(ending);
      expect(await use.call).toBe('booked');
      expect([ending, await used(s, limit)]).toEqual([ending, ending === 'commit' ? 2 : 7]);
      await right(s);
    }
  },
);

onEvery(
  'uses from eight replicas on limits that cross: every one counts, on each of them, and none waits for another for ever',
  async (s) => {
    await s.db.setClock('2026-06-10T12:00:00Z');
    const replicas = await Promise.all(times(8, () => s.replica({ maxConnections: 4 })));
    const { pool, names } = await poolOf(s, 200, { quotaGroup: newId('group') });
    const limits = [
      ...names.map((upstream, i) => ({ limit: `${pool} ${300 - i}`, upstream })),
      ...[
        { limit: `${pool} all`, provider: pool },
        {
          limit: `${pool} 200 half`,
          quotaGroup: (await s.db.query('select quota_group from recoup.upstreams where id = $1', [names[0]]))[0]!
            .quota_group as string,
        },
      ],
    ];
    for (const one of limits)
      await s.recoup.upstreams.limits.set({ ...one, unit: 'requests', amount: 1_000_000, ...daily });
    const answers = await Promise.all(times(2400, (i) => book(s, names[i % 200]!, 1 + (i % 3), replicas[i % 8])));
    expect(tally(answers.map(String))).toEqual({ booked: 2400 });
    expect(
      await Promise.all([`${pool} all`, `${pool} 200 half`, `${pool} 300`].map((limit) => used(s, limit))),
    ).toEqual([4800, 4800, 24]);
    await right(s);
  },
);

onEvery('the same key from many replicas at once is booked once', async (s) => {
  const { upstream, limit } = await limited(s, 1000);
  const replicas = await Promise.all(times(8, () => s.replica()));
  for (let round = 0; round < 5; round++) {
    const key = newId('key');
    const calls = times(40, (i) => replicas[i % 8]!.upstreams.report({ upstream, success: true, key }));
    expect(tally((await Promise.all(calls)).map(({ use }) => String(use)))).toEqual({ booked: 1, duplicate: 39 });
  }
  expect(await used(s, limit)).toBe(5);
});

/** One step of a random history. */
type Step = { do: 'use'; amount: number } | { do: 'reset' | 'sweep' | 'set' } | { do: 'advance'; ms: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('use' as const), amount: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('reset' as const, 'sweep' as const, 'set' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 30 * HOUR })),
    }),
  },
);
const KINDS: Of[] = [
  { kind: 'daily', zone: 'America/New_York', startHour: 2 },
  { kind: 'weekly', zone: 'Europe/Berlin', weekday: 0 },
  { kind: 'monthly', zone: 'UTC', day: 31 },
  { kind: 'first_use', lengthMs: 5 * HOUR },
  { kind: 'rolling', lengthMs: 3 * HOUR },
  { kind: 'rolling', lengthMs: 2000 },
];

onEvery(
  'any interleaving of uses, resets, sweeps and changes: used is the sum of what was booked in the window',
  async (s) => {
    const replicas = await Promise.all(times(3, () => s.replica({ maxConnections: 4 })));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 8 }),
        fc.constantFrom(...KINDS),
        fc.infiniteStream(fc.constantFrom(...KINDS)),
        async (rounds, of, kinds) => {
          await s.db.setClock('2026-10-31T22:00:00Z');
          const { upstream, limit } = await limited(s, 1_000_000, of);
          let booked = 0;
          for (const round of rounds) {
            const moves = round.filter((one) => one.do === 'advance');
            const calls = round.map(async (one, i): Promise<unknown> => {
              const recoup = replicas[i % 3] as Recoup;
              if (one.do === 'use') {
                const told = await book(s, upstream, one.amount, recoup);
                booked += told === 'booked' ? one.amount : 0;
                return;
              }
              if (one.do === 'reset') return recoup.upstreams.limits.reset(limit);
              if (one.do === 'sweep') return recoup.sweep();
              const kind = kinds.next().value;
              return (
                one.do === 'set' &&
                recoup.upstreams.limits.set({ limit, upstream, unit: 'requests', amount: 1_000_000, ...kind })
              );
            });
            await Promise.all(calls);
            for (const { ms } of moves) await s.db.advance(ms);
            await right(s);
            const [row] = await s.db.query(
              `select total::int, (select coalesce(sum(amount), 0)::int from recoup.uses where limit_id = $1) as kept from recoup.limits where id = $1`,
              [limit],
            );
            expect([row!.total, Number(row!.kept) <= booked]).toEqual([booked, true]);
          }
          // From scratch: what was booked within the time that counts now, behind the last reset.
          const [now] = await s.recoup.upstreams.limits.list({ limit });
          const span =
            now!.windowStart === null
              ? `booked_at > recoup.clock() - $2 * interval '1 ms'`
              : 'booked_at >= (select window_start from recoup.limits where id = $1) and $2::bigint is not null';
          if (now!.windowStart !== null || now!.kind === 'rolling') {
            const [sum] = await s.db.query(
              `select coalesce(sum(amount), 0)::int as used from recoup.uses where limit_id = $1 and ${span}
             and booked_at >= coalesce((select max(window_start) from recoup.windows where limit_id = $1 and begun_by = 'reset'), '-infinity')`,
              [limit, now!.lengthMs ?? 0],
            );
            // A change of kind lets what rolls forget what it had counted by another kind, and count whole windows from before.
            if (!rounds.flat().some((one) => one.do === 'set')) expect(now!.used).toBe(sum!.used);
          } else expect(now!.used).toBe(0);
        },
      ),
      { numRuns: 25, endOnFailure: true },
    );
  },
);

onEvery('after all of it the books are right', booksAreRight);
