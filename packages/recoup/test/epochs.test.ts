// Epochs: after a restore, into the same server or another one, the feed is whole and in order, and old cursors are told so.
import { expect } from 'vitest';
import { type Epoch, type FeedEvent, type Recoup, Refusal } from '../src/index.ts';
import { refusal, times } from './support/look.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';

const { onEvery, onFirst } = staging();

const named = (event: FeedEvent) =>
  event.kind === 'entry'
    ? `${event.wallet} ${event.seq}`
    : `${event.wallet} ${event.job} ${event.attempt} ${event.endedAs}`;

/** Everything from a cursor on, once it is final: other tests may hold the feed back for a while. */
async function readAll(recoup: Recoup, from: string | null, atLeast: number) {
  let events: FeedEvent[] = [];
  let cursor = from;
  await until(async () => {
    events = [];
    cursor = from;
    for (;;) {
      const page = await recoup.feed.read(cursor, 7);
      events.push(...page.events);
      cursor = page.cursor;
      if (page.events.length === 0) return events.length >= atLeast;
    }
  });
  return { events, cursor: cursor! };
}

async function rowsOf(query: Stage['db']['query']): Promise<number> {
  const [row] = await query(
    `select (select count(*) from recoup.entries) + (select count(*) from recoup.attempts) as n`,
  );
  return Number(row!.n);
}

async function work(recoup: Recoup): Promise<string> {
  const [wallet, queue] = [newId('wallet'), newId('queue')];
  await recoup.wallets.open({ wallet, customer: 'c' });
  await recoup.wallets.grant({ wallet, key: 'start', amount: 100 });
  await recoup.jobs.submitMany(times(3, (i) => ({ wallet, job: `job ${i}`, queue, price: 1 })));
  await recoup.jobs.lease({ queue, count: 2 });
  await recoup.jobs.fail({ wallet, job: 'job 0', attempt: 1 });
  await recoup.jobs.succeed({ wallet, job: 'job 0' });
  return wallet;
}

/** Makes the rows those of a server that had counted further than this one: what a dump brings into a fresh cluster. */
async function asFromAnotherCluster(s: Stage, tables = ['entries', 'attempts']): Promise<void> {
  for (const table of tables) {
    await s.db.query(`begin; alter table recoup.${table} disable trigger user;
      grant update on recoup.${table} to current_user;
      update recoup.${table} set tx = (tx::text::bigint + 1000000000)::text::xid8;
      alter table recoup.${table} enable trigger user;
      revoke update on recoup.${table} from current_user; commit`);
  }
  await s.db.query('alter table recoup.entries enable always trigger entries_append_only');
}

const epochChanged = async (recoup: Recoup, cursor: string | null) => {
  const refused = await refusal(recoup.feed.read(cursor));
  expect(refused.code).toBe('epoch_changed');
  return refused.details as { epoch: number; reason: string; cursor: string | null };
};

onEvery('cursors of before there were epochs, and of the first one, hold for as long as none is opened', async (s) => {
  await work(s.recoup);
  const all = await readAll(s.recoup, null, await rowsOf(s.db.query));
  const parts = JSON.parse(Buffer.from(all.cursor, 'base64url').toString()) as unknown[];
  expect(parts).toHaveLength(7);
  const old = Buffer.from(JSON.stringify(parts.slice(0, 6))).toString('base64url');
  await work(s.recoup);
  const rest = (await rowsOf(s.db.query)) - all.events.length;
  const [next, alike] = [await readAll(s.recoup, all.cursor, rest), await readAll(s.recoup, old, rest)];
  expect(next.events).toEqual(alike.events);
  expect(next.events).toHaveLength(rest);
  expect(await s.recoup.epochs.current()).toMatchObject({ number: 0, reason: 'created', due: null });
});

onEvery('opened by hand: positions start above all others, old cursors go on without a gap', async (s) => {
  await work(s.recoup);
  const before = await readAll(s.recoup, null, await rowsOf(s.db.query));
  const middle = (await s.recoup.feed.read(null, 4)).cursor!;
  const { number } = await s.recoup.epochs.current();
  const opened = await s.recoup.epochs.open({ reason: 'backup of Tuesday', actor: 'ann' });
  expect(opened).toMatchObject({ number: number + 1, reason: 'backup of Tuesday', actor: 'ann' });
  expect(opened.openedAt).toBeInstanceOf(Date);
  await work(s.recoup);
  const all = await readAll(s.recoup, null, await rowsOf(s.db.query));
  // What was there keeps its order and its place before what is new.
  expect(all.events.slice(0, before.events.length)).toEqual(before.events);
  expect(all.events).toHaveLength(await rowsOf(s.db.query));
  expect(new Set(all.events.map(named)).size).toBe(all.events.length);
  for (const [cursor, seen] of [
    [middle, 4],
    [before.cursor, before.events.length],
  ] as const) {
    const told = await epochChanged(s.recoup, cursor);
    expect(told).toMatchObject({ epoch: opened.number, reason: 'backup of Tuesday' });
    const rest = await readAll(s.recoup, told.cursor, all.events.length - seen);
    expect(rest.events).toEqual(all.events.slice(seen));
  }
  expect((await s.recoup.epochs.list()).map((one: Epoch) => one.number)).toEqual(times(opened.number + 1, (i) => i));
});

onEvery('writers that are under way meanwhile stay in the old epoch, and none is lost', async (s) => {
  const wallet = await s.wallet(0);
  const late = await s.client();
  await late.query('begin');
  await s.recoup.using(late).wallets.grant({ wallet, key: 'late', amount: 1 });
  let done = false;
  const opening = s.recoup.epochs.open({ reason: 'under way' }).then((epoch) => {
    done = true;
    return epoch;
  });
  const writing = Promise.all(times(5, () => work(s.recoup)));
  await until(async () => {
    const [row] = await s.db.query(`select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock'
      and datname = current_database() and query like 'alter table%'`);
    return row!.n === 1;
  });
  expect(done).toBe(false);
  await late.query('commit');
  await Promise.all([opening, writing]);
  const [row] = await s.db.query(
    `select (tx::text::bigint / 281474976710656)::int as epoch from recoup.entries where wallet_id = $1`,
    [wallet],
  );
  expect(row!.epoch).toBe((await opening).number - 1);
  const rows = await rowsOf(s.db.query);
  expect((await readAll(s.recoup, null, rows)).events).toHaveLength(rows);
});

onEvery('with `since`, what was written from then on is told again', async (s) => {
  await work(s.recoup);
  const before = await readAll(s.recoup, null, await rowsOf(s.db.query));
  const middle = (await s.recoup.feed.read(null, 3)).cursor;
  // As if a standby had been promoted here and used transaction ids again that the reader had seen in use.
  const since = await s.db.now();
  await new Promise((resolve) => setTimeout(resolve, 5));
  const gap = await work(s.recoup);
  const ahead = await readAll(s.recoup, before.cursor, (await rowsOf(s.db.query)) - before.events.length);
  await s.recoup.epochs.open({ reason: 'failover', since });
  const told = await epochChanged(s.recoup, ahead.cursor);
  const again = await readAll(s.recoup, told.cursor, ahead.events.length);
  expect(again.events.map(named)).toEqual(ahead.events.map(named));
  expect(again.events.every(({ wallet }) => wallet === gap)).toBe(true);
  // Who had not got that far goes on where he was.
  const behind = await epochChanged(s.recoup, middle);
  const rest = await readAll(s.recoup, behind.cursor, before.events.length - 3 + ahead.events.length);
  expect(rest.events.slice(0, before.events.length - 3)).toEqual(before.events.slice(3));
});

onEvery('rows of another cluster: said, refused, and made whole by the next migration', async (s) => {
  await work(s.recoup);
  const rows = await rowsOf(s.db.query);
  const before = await readAll(s.recoup, null, rows);
  await asFromAnotherCluster(s);
  await work(s.recoup);
  const refused = await refusal(s.recoup.feed.read(null));
  expect(refused).toMatchObject({ code: 'epoch_needed', details: { command: 'recoup epochs open --reason "…"' } });
  expect((await s.recoup.epochs.current()).due).toContain('another cluster');
  const { problems } = await s.recoup.verify({ testClock: true });
  expect(problems).toMatchObject([{ check: 'feed.position' }]);
  const { number } = await s.recoup.epochs.current();
  // Twenty replicas start at once: one epoch.
  await Promise.all(times(4, () => s.replica({ migrate: true })));
  expect(await s.recoup.epochs.current()).toMatchObject({ number: number + 1, actor: 'recoup', due: null });
  await work(s.recoup);
  const total = await rowsOf(s.db.query);
  const all = await readAll(s.recoup, null, total);
  expect(all.events).toHaveLength(total);
  expect(new Set(all.events.map(named)).size).toBe(total);
  // In order: what a wallet did comes as it did it.
  const seqs = new Map<string, number>();
  for (const event of all.events) {
    if (event.kind !== 'entry') continue;
    expect(event.seq).toBe((seqs.get(event.wallet) ?? 0) + 1);
    seqs.set(event.wallet, event.seq);
  }
  expect((await epochChanged(s.recoup, before.cursor)).epoch).toBe(number + 1);
});

for (const [ahead, kept] of [
  ['attempts', 'entry'],
  ['entries', 'attempt'],
] as const) {
  for (const by of ['itself', 'hand'] as const) {
    onEvery(`only ${ahead} are ahead: what was written beside them is told, opened by ${by}`, async (s) => {
      const old = await work(s.recoup);
      const before = await readAll(s.recoup, null, await rowsOf(s.db.query));
      await asFromAnotherCluster(s, [ahead]);
      // Where a reader of the other cluster stood: behind all that it had.
      const [{ tx }] = (await s.db.query(`select max(tx::text::bigint)::text as tx from recoup.${ahead}`)) as [
        { tx: string },
      ];
      const parts = JSON.parse(Buffer.from(before.cursor, 'base64url').toString()) as unknown[];
      const cursor = Buffer.from(JSON.stringify([tx, 'z', ...parts.slice(2)])).toString('base64url');
      const written = await work(s.recoup);
      if (by === 'itself') await s.replica({ migrate: true });
      else await s.recoup.epochs.open({ reason: 'a dump' });
      const later = await work(s.recoup);
      const told = (await epochChanged(s.recoup, cursor)).cursor;
      const all = await readAll(s.recoup, null, await rowsOf(s.db.query));
      const of = (events: FeedEvent[], wallet: string) => events.filter((e) => e.wallet === wallet).map(named);
      let seen: FeedEvent[] = [];
      await until(async () => {
        ({ events: seen } = await readAll(s.recoup, told, 0));
        return of(seen, later).length === of(all.events, later).length;
      });
      for (const wallet of [written, later]) expect(of(seen, wallet)).toEqual(of(all.events, wallet));
      // What is certainly not from here is not told again for nothing.
      expect(seen.filter(({ wallet, kind }) => wallet === old && kind === kept)).toEqual([]);
    });
  }
}

onFirst('a cursor of an epoch that this ledger never had: from the beginning', async (s) => {
  await work(s.recoup);
  const { cursor } = await readAll(s.recoup, null, await rowsOf(s.db.query));
  const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
  const unknown = Buffer.from(JSON.stringify([...parts.slice(0, 6), 'no such'])).toString('base64url');
  expect((await epochChanged(s.recoup, unknown)).cursor).toBeNull();
});

onFirst('epochs are append-only; a reason is needed, and the owner', async (s) => {
  await expect(s.db.query('delete from recoup.epochs')).rejects.toThrow('epochs are append-only: DELETE is refused');
  await expect(s.db.query('delete from recoup.entries')).rejects.toThrow('entries are append-only');
  for (const bad of [
    { reason: '' },
    {},
    { reason: 'x'.repeat(201) },
    { reason: 'x', since: 'today' },
    { reason: 'x', y: 1 },
  ]) {
    expect((await refusal(s.recoup.epochs.open(bad as never))).code).toBe('invalid');
  }
  const role = `runs_${s.db.url.split('/').at(-1)!.toLowerCase()}`.slice(0, 60);
  await s.db.query(`create role ${role} login password 'x'; grant usage on schema recoup to ${role};
    grant select, insert, update on all tables in schema recoup to ${role}`);
  const url = new URL(s.db.url);
  [url.username, url.password] = [role, 'x'];
  const weak = await s.replica({ connection: url.href });
  const refused = await weak.epochs.open({ reason: 'x' }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Refusal);
  expect((refused as Refusal).code).toBe('database_refused');
  // Reading needs no more than what every service has.
  expect(await weak.epochs.current()).toMatchObject({ due: null });
  await weak.close();
  await s.db.query(`drop owned by ${role}; drop role ${role}`);
});

onEvery('an export goes on over an epoch: all wallets without a gap, one wallet from its beginning', async (s) => {
  const wallet = await work(s.recoup);
  const { feed } = s.recoup;
  const key = ({ wallet, seq }: { wallet: string; seq: number }) => `${wallet} ${seq}`;
  const all = async (filter: { wallet?: string }, from: string | null) => {
    let cursor = from;
    const seen: string[] = [];
    for (;;) {
      const page = await feed.entries(filter, { cursor, limit: 3 });
      seen.push(...page.entries.map(key));
      cursor = page.cursor;
      if (page.ended) return { seen, cursor };
    }
  };
  await readAll(s.recoup, null, await rowsOf(s.db.query));
  const [every, one] = [await all({}, null), await all({ wallet }, null)];
  await s.recoup.epochs.open({ reason: 'for the export' });
  const later = await work(s.recoup);
  await readAll(s.recoup, null, await rowsOf(s.db.query));
  const refusedOf = async (filter: { wallet?: string }, cursor: string | null) => {
    const refused = await refusal(() => feed.entries(filter, { cursor }));
    expect(refused.code).toBe('epoch_changed');
    return (refused.details as { cursor: string | null }).cursor;
  };
  const rest = await all({}, await refusedOf({}, every.cursor));
  expect(rest.seen.length).toBeGreaterThan(0);
  expect(rest.seen.every((entry) => entry.startsWith(`${later} `))).toBe(true);
  expect([...every.seen, ...rest.seen].sort()).toEqual((await all({}, null)).seen.sort());
  expect(await refusedOf({ wallet }, one.cursor)).toBeNull();
  expect((await all({ wallet }, null)).seen).toEqual(one.seen);
});

onEvery('the books are right', booksAreRight);
