// The feed: entries and ends of attempts in one order, complete below the oldest transaction still open.

import type { Runner } from './db/runner.ts';
import { statement } from './db/statement.ts';
import { InvalidInput } from './errors.ts';
import * as check from './input.ts';

const columns = {
  after_tx: 'text',
  after_kind: 'text',
  after_wallet: 'text',
  after_a: 'text',
  after_b: 'bigint',
  after_c: 'text',
  count: 'int',
} as const;

interface FeedRow {
  cursor: [string, string, string, string, number, string];
  event: FeedEvent;
}

/** Something that happened: `entry` (money moved) or `attempt` (an attempt ended). Instants are RFC 3339 text in microseconds. */
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
      at: string;
    }
  | {
      kind: 'attempt';
      wallet: string;
      job: string;
      attempt: number;
      endedAs: string;
      verdict: string | null;
      jobState: string;
      at: string;
    };

/**
 * Both append-only tables carry the transaction that wrote them. Everything below the snapshot's xmin is final: no row
 * can appear before it any more, so a reader that remembers its cursor misses nothing and sees nothing twice. One
 * transaction that stays open holds the feed back; it never loses anything.
 */
const readFeed = statement<typeof columns, FeedRow>(
  'feed.read',
  columns,
  () => `
bounds as (select i.*, coalesce(i.after_tx, '0')::xid8 as low, pg_snapshot_xmin(pg_current_snapshot()) as high from input i),
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
select coalesce(json_agg(json_build_object('cursor', json_build_array(tx::text, kind, wallet_id, a, b, c), 'event', event)
  order by tx, kind, wallet_id, case when kind = 'attempt' then a end, b, c), '[]')::text as answer
from page`,
);

export class Feed {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /**
   * The events behind a cursor (null: from the beginning), at most `limit` (1 to 5,000; 500 unless set). Keep `cursor` and pass
   * it next time; an empty list means that nothing new is final yet.
   */
  async read(cursor: string | null, limit = 500): Promise<{ events: FeedEvent[]; cursor: string | null }> {
    const each = await this.readEach(cursor, limit);
    return { events: each.map(({ event }) => event), cursor: each.at(-1)?.cursor ?? cursor };
  }

  /** As `read`, each event with the cursor right behind it: for readers that must be able to stop at any event. */
  async readEach(cursor: string | null, limit = 500): Promise<{ event: FeedEvent; cursor: string }[]> {
    const count = check.integer('limit', limit, 1, 5000);
    const [after_tx, after_kind, after_wallet, after_a, after_b, after_c] = cursor === null ? [] : decode(cursor);
    const input = { after_tx, after_kind, after_wallet, after_a, after_b, after_c, count };
    const rows = await this.#runner.read(readFeed, [input]);
    return rows.map((row) => ({
      event: row.event,
      cursor: Buffer.from(JSON.stringify(row.cursor)).toString('base64url'),
    }));
  }
}

function decode(cursor: string): [string, string, string, string, number, string] {
  try {
    const parts = JSON.parse(
      Buffer.from(check.text('cursor', cursor, 4000) ?? '', 'base64url').toString(),
    ) as unknown[];
    const [tx, kind, wallet, a, b, c] = parts;
    const texts = [tx, kind, wallet, a, c].every((part) => typeof part === 'string' && !part.includes('\u0000'));
    if (texts && /^\d{1,19}$/.test(tx as string) && Number.isSafeInteger(b)) {
      return [tx, kind, wallet, a, b, c] as [string, string, string, string, number, string];
    }
  } catch {
    // Falls through to the refusal.
  }
  throw new InvalidInput('cursor', 'must be null or a cursor that the feed gave');
}
