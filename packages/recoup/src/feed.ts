// The feed: entries and ends of attempts in one order, complete below the oldest transaction still open.

import { behind, OPEN_EPOCH, positionOf } from './db/epochs.ts';
import type { Runner } from './db/runner.ts';
import { statement } from './db/statement.ts';
import { InvalidInput, Refusal } from './errors.ts';
import * as check from './input.ts';

const columns = {
  after_tx: 'text',
  after_kind: 'text',
  after_wallet: 'text',
  after_a: 'text',
  after_b: 'bigint',
  after_c: 'text',
  after_epoch: 'text',
  count: 'int',
} as const;

/** A place in the order: position, kind, wallet, job, seq or attempt, and how the attempt ended. */
type Place = [tx: string, kind: string, wallet: string, a: string, b: number, c: string];

interface FeedPage {
  /** The newest epoch; cursors are given under it. */
  epoch: { id: string; number: number; openedAt: string; reason: string };
  /** See EpochState. */
  behind: boolean;
  /** The epoch that the cursor was given under: null where nothing of it is known here. */
  given: { number: number; rereadFrom: string | null } | null;
  rows: { cursor: Place; event: FeedEvent & { at: unknown } }[];
}

/** Something that happened: `entry` (money moved) or `attempt` (an attempt ended). */
export type FeedEvent =
  | {
      kind: 'entry';
      wallet: string;
      seq: number;
      type: string;
      amount: number;
      balance: number;
      job: string | null;
      key: string | null;
      reason: string | null;
      actor: string | null;
      at: Date;
    }
  | {
      kind: 'attempt';
      wallet: string;
      job: string;
      attempt: number;
      endedAs: string;
      verdict: string | null;
      jobState: string;
      at: Date;
    };

/**
 * Both append-only tables carry the transaction that wrote them, counted on from epoch to epoch. Everything below the
 * snapshot's xmin is final: no row can appear before it any more, so a reader that remembers its cursor misses nothing
 * and sees nothing twice. One transaction that stays open holds the feed back; it never loses anything.
 */
const readFeed = statement<typeof columns, FeedPage>(
  'feed.read',
  columns,
  () => `
newest as materialized (
  select e.*, ${behind('e.number')} as behind
  from recoup.epochs e order by e.number desc limit 1),
given as materialized (
  select e.number, (select min(later.reread_from::text::bigint) from recoup.epochs later where later.number > e.number) as reread_from
  from input i join recoup.epochs e on case when i.after_epoch is null then e.number = 0 else e.id = i.after_epoch end),
bounds as (
  select i.*, coalesce(i.after_tx, '0')::xid8 as low, ${positionOf('pg_snapshot_xmin(pg_current_snapshot())', 'n.number')} as high
  from input i cross join newest n
  where not n.behind and (i.after_tx is null or n.number = (select number from given))),
rows as (
  (select e.tx, 'entry' as kind, e.wallet_id, coalesce(e.job_id, '') collate "C" as a, e.seq as b, '' collate "C" as c,
     json_build_object('kind', 'entry', 'wallet', e.wallet_id, 'seq', e.seq, 'type', e.type, 'amount', e.amount, 'balance', e.balance,
       'job', e.job_id, 'key', e.key, 'reason', e.reason, 'actor', e.actor, 'at', e.created_at) as event
   from bounds i join recoup.entries e on e.tx >= i.low and e.tx < i.high
   where i.after_tx is null or e.tx > i.low
     or ('entry', e.wallet_id, e.seq) > (i.after_kind, i.after_wallet, i.after_b)
   order by e.tx, e.wallet_id, e.seq limit (select count from input))
  union all
  (select a.tx, 'attempt', a.wallet_id, a.job_id, a.attempt, a.ended_as,
     json_build_object('kind', 'attempt', 'wallet', a.wallet_id, 'job', a.job_id, 'attempt', a.attempt, 'endedAs', a.ended_as,
       'verdict', a.verdict, 'jobState', a.job_state, 'at', a.ended_at)
   from bounds i join recoup.attempts a on a.tx >= i.low and a.tx < i.high
   where i.after_tx is null or a.tx > i.low
     or ('attempt', a.wallet_id, a.job_id, a.attempt, a.ended_as) > (i.after_kind, i.after_wallet, i.after_a, i.after_b, i.after_c)
   order by a.tx, a.wallet_id, a.job_id, a.attempt, a.ended_as limit (select count from input))),
page as (select * from rows order by tx, kind, wallet_id, case when kind = 'attempt' then a end, b, c limit (select count from input))
select json_build_array(json_build_object(
  'epoch', json_build_object('id', n.id, 'number', n.number, 'openedAt', n.opened_at, 'reason', n.reason), 'behind', n.behind,
  'given', (select json_build_object('number', number, 'rereadFrom', reread_from::text) from given),
  'rows', (select coalesce(json_agg(json_build_object('cursor', json_build_array(tx::text, kind, wallet_id, a, b, c), 'event', event)
    order by tx, kind, wallet_id, case when kind = 'attempt' then a end, b, c), '[]') from page)))::text as answer
from newest n`,
);

const ledger = {
  after_tx: 'text',
  after_wallet: 'text',
  after_seq: 'bigint',
  wallet_id: 'text',
  customer_id: 'text',
  from_at: 'timestamptz',
  to_at: 'timestamptz',
  count: 'int',
} as const;

/** An entry with whose it is, for the books of somebody else. The instant is RFC 3339 text in UTC with microseconds. */
export interface LedgerEntry {
  wallet: string;
  customer: string;
  unit: string;
  seq: number;
  type: string;
  amount: number;
  balance: number;
  job: string | null;
  key: string | null;
  reason: string | null;
  actor: string | null;
  createdAt: string;
}

interface LedgerPage {
  scanned: number;
  last: [tx: string, wallet: string, seq: number] | null;
  entries: LedgerEntry[];
}

/**
 * All wallets: in the order of the feed, final below the oldest open transaction, so that a cursor never misses what
 * commits late. Some wallets: by their key, since a wallet's own order is final with its commit and needs no horizon.
 * A page looks at `count` entries and gives those of the period: no page takes long because few entries match.
 */
const readLedger = statement<typeof ledger, LedgerPage>(
  'feed.entries',
  ledger,
  () => `
bounds as (select i.*, coalesce(i.after_tx, '0')::xid8 as low, pg_snapshot_xmin(pg_current_snapshot()) as high from input i),
scanned as materialized (
  (select e.*, w.customer_id, w.unit, e.tx as turn from bounds i join recoup.entries e on e.tx >= i.low and e.tx < i.high
     join recoup.wallets w on w.id = e.wallet_id
   where i.wallet_id is null and i.customer_id is null
     and (i.after_tx is null or e.tx > i.low or (e.wallet_id, e.seq) > (i.after_wallet, i.after_seq))
   order by e.tx, e.wallet_id, e.seq limit (select count from input))
  union all
  (select e.*, w.customer_id, w.unit, null from input i
     join recoup.wallets w on w.id = i.wallet_id and w.customer_id = coalesce(i.customer_id, w.customer_id)
     join recoup.entries e on e.wallet_id = i.wallet_id and e.seq > coalesce(i.after_seq, 0)
   order by e.seq limit (select count from input))
  union all
  (select e.*, w.customer_id, w.unit, null from input i
     join recoup.wallets w on w.customer_id = i.customer_id and w.id >= coalesce(i.after_wallet, '')
     cross join lateral (
       select * from recoup.entries where wallet_id = w.id and (w.id > coalesce(i.after_wallet, '') or seq > i.after_seq)
       order by seq limit i.count) e
   where i.wallet_id is null order by e.wallet_id, e.seq limit (select count from input)))
select json_build_array(json_build_object('scanned', count(*),
  'last', (select json_build_array(tx::text, wallet_id, seq) from scanned order by turn desc, wallet_id desc, seq desc limit 1),
  'entries', coalesce(json_agg(json_build_object('wallet', s.wallet_id, 'customer', s.customer_id, 'unit', s.unit, 'seq', s.seq,
     'type', s.type, 'amount', s.amount, 'balance', s.balance, 'job', s.job_id, 'key', s.key, 'reason', s.reason, 'actor', s.actor,
     'createdAt', to_char(s.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) order by s.turn, s.wallet_id, s.seq)
     filter (where s.created_at >= coalesce(i.from_at, '-infinity') and s.created_at < coalesce(i.to_at, 'infinity')), '[]')))::text as answer
from input i cross join scanned s`,
);

/** Which entries: of one wallet, of one customer, from an instant (included) to another (not included). */
export interface LedgerFilter {
  wallet?: string;
  customer?: string;
  from?: Date;
  to?: Date;
}

export class Feed {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /**
   * The events behind a cursor (null: from the beginning), at most `limit` (1 to 5,000; 500 unless set). Keep `cursor` and pass
   * it next time; an empty list means that nothing new is final yet. Refuses `epoch_changed` after a restore or a failover
   * (`details.cursor` goes on, without a gap) and `epoch_needed`.
   */
  async read(cursor: string | null, limit = 500): Promise<{ events: FeedEvent[]; cursor: string | null }> {
    const each = await this.readEach(cursor, limit);
    return { events: each.map(({ event }) => event), cursor: each.at(-1)?.cursor ?? cursor };
  }

  /** As `read`, each event with the cursor right behind it: for readers that must be able to stop at any event. */
  async readEach(cursor: string | null, limit = 500): Promise<{ event: FeedEvent; cursor: string }[]> {
    const count = check.integer('limit', limit, 1, 5000);
    const [place, after_epoch] = cursor === null ? [null, null] : decode(cursor);
    const [after_tx, after_kind, after_wallet, after_a, after_b, after_c] = place ?? [];
    const input = { after_tx, after_kind, after_wallet, after_a, after_b, after_c, after_epoch, count };
    const page = (await this.#runner.read(readFeed, [input]))[0]!;
    if (page.behind) throw new Refusal('epoch_needed', undefined, { command: OPEN_EPOCH });
    if (place && page.given?.number !== page.epoch.number) throw changed(page, place);
    return page.rows.map(({ event, cursor }) => ({
      event: { ...event, at: new Date(event.at as unknown as string) },
      cursor: encode(cursor, page.epoch.id),
    }));
  }

  /**
   * The ledger for other books: entries behind a cursor, at most `limit` (1 to 5,000; 1,000 unless set), each with customer
   * and unit. `ended`: nothing more is there now; the cursor stays good for what comes. Without `wallet` and `customer` in the
   * order of the feed, complete like it; with one of them wallet by wallet, in the order of their numbers.
   */
  async entries(
    filter: LedgerFilter = {},
    options: { cursor?: string | null; limit?: number } = {},
  ): Promise<{ entries: LedgerEntry[]; cursor: string | null; ended: boolean }> {
    check.onlyFields('entries', filter, ['wallet', 'customer', 'from', 'to']);
    check.onlyFields('entries', options, ['cursor', 'limit']);
    const count = check.optionalInteger('limit', options.limit, 1, 5000) ?? 1000;
    const wallet_id = check.optionalId('wallet', filter.wallet);
    const customer_id = check.optionalId('customer', filter.customer);
    const kind = wallet_id === null && customer_id === null ? 'all' : 'some';
    const cursor = options.cursor ?? null;
    const period = { from_at: check.instant('from', filter.from), to_at: check.instant('to', filter.to) };
    const input = { ...ledgerCursor(kind, cursor), wallet_id, customer_id, ...period, count };
    const [page] = await this.#runner.read(readLedger, [input]);
    const { entries, last, scanned } = page!;
    const behind = last ? Buffer.from(JSON.stringify([kind, ...last])).toString('base64url') : cursor;
    return { entries, cursor: behind, ended: scanned < count };
  }
}

function ledgerCursor(kind: 'all' | 'some', cursor: string | null) {
  if (cursor === null) return {};
  try {
    const text = Buffer.from(check.text('cursor', cursor, 4000) ?? '', 'base64url').toString();
    const [of, tx, wallet, seq] = JSON.parse(text) as unknown[];
    if (of === kind && /^\d{1,19}$/.test(String(tx)) && Number.isSafeInteger(seq)) {
      return { after_tx: String(tx), after_wallet: check.id('cursor', wallet), after_seq: seq as number };
    }
  } catch {
    // Falls through to the refusal.
  }
  throw new InvalidInput('cursor', 'must be null or a cursor that an export with these filters gave');
}

/**
 * The cursor's epoch is over. What is kept of it, up to the cursor, its reader has seen, and all that came since lies
 * higher: he goes on where he was, or where work went on before the epoch was opened. Of an epoch that nobody here
 * knows (restored to before it was opened) he may have seen anything: from the beginning.
 */
function changed({ epoch, given }: FeedPage, place: Place): Refusal {
  const { number, openedAt, reason } = epoch;
  const from = given?.rereadFrom ?? null;
  const back = from !== null && BigInt(from) <= BigInt(place[0]);
  const next: Place = back ? [from, '', '', '', 0, ''] : place;
  const cursor = given === null ? null : encode(next, epoch.id);
  return new Refusal('epoch_changed', undefined, { epoch: number, openedAt, reason, cursor });
}

const encode = (place: Place, epoch: string) => Buffer.from(JSON.stringify([...place, epoch])).toString('base64url');

/** A cursor of before there were epochs has no epoch in it: it is of the first one. */
function decode(cursor: string): [Place, string | null] {
  try {
    const parts = JSON.parse(
      Buffer.from(check.text('cursor', cursor, 4000) ?? '', 'base64url').toString(),
    ) as unknown[];
    const [tx, kind, wallet, a, b, c, epoch = ''] = parts;
    const texts = [tx, kind, wallet, a, c, epoch].every((part) => typeof part === 'string' && !part.includes('\u0000'));
    if (texts && /^\d{1,19}$/.test(tx as string) && Number.isSafeInteger(b)) {
      return [[tx, kind, wallet, a, b, c] as Place, (epoch as string) || null];
    }
  } catch {
    // Falls through to the refusal.
  }
  throw new InvalidInput('cursor', 'must be null or a cursor that the feed gave');
}
