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
