// Events of the feed: entries and ends of attempts in one order, complete below the oldest transaction still open.
import type { Runner } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import {
  decode,
  type EpochFacts,
  encode,
  epochFacts,
  isPosition,
  isText,
  refuseEpoch,
  withinEpoch,
} from './cursors.ts';

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

interface FeedPage extends EpochFacts {
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

const readFeed = statement<typeof columns, FeedPage>(
  'feed.read',
  columns,
  () => `${withinEpoch},
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
select json_build_array(json_build_object(${epochFacts},
  'rows', (select coalesce(json_agg(json_build_object('cursor', json_build_array(tx::text, kind, wallet_id, a, b, c), 'event', event)
    order by tx, kind, wallet_id, case when kind = 'attempt' then a end, b, c), '[]') from page)))::text as answer`,
);

/** A cursor of before there were epochs has none in it: it is of the first one. */
const isPlace = (parts: unknown[]): parts is [...Place, epoch?: string] =>
  isPosition(parts[0]) &&
  [1, 2, 3, 5].every((i) => isText(parts[i])) &&
  Number.isSafeInteger(parts[4]) &&
  isText(parts[6] ?? '');

/** The events behind a cursor, each with the cursor right behind it. */
export async function readEvents(
  runner: Runner,
  cursor: string | null,
  count: number,
): Promise<{ event: FeedEvent; cursor: string }[]> {
  const place = cursor === null ? null : decode(cursor, 'the feed', isPlace);
  const [after_tx, after_kind, after_wallet, after_a, after_b, after_c, epoch] = place ?? [];
  const input = { after_tx, after_kind, after_wallet, after_a, after_b, after_c, after_epoch: epoch || null, count };
  const page = (await runner.read(readFeed, [input]))[0]!;
  refuseEpoch(page, after_tx ?? null, (from) =>
    encode([...(from === null ? place!.slice(0, 6) : [from, '', '', '', 0, '']), page.epoch.id]),
  );
  return page.rows.map(({ event, cursor: at }) => ({
    event: { ...event, at: new Date(event.at as unknown as string) },
    cursor: encode([...at, page.epoch.id]),
  }));
}
