// The ledger for other books: entries with customer and unit, all of them in the order of the feed or wallet by wallet.
import type { Runner } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import * as check from '../input.ts';
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
  after_wallet: 'text',
  after_seq: 'bigint',
  after_epoch: 'text',
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

interface LedgerPage extends EpochFacts {
  scanned: number;
  last: [tx: string, wallet: string, seq: number] | null;
  entries: LedgerEntry[];
}

/**
 * All wallets: in the order of the feed, so that a cursor never misses what commits late. Some wallets: by their key, since
 * a wallet's own order is final with its commit. A page looks at `count` entries and gives those of the period: no page
 * takes long because few entries match.
 */
const readLedger = statement<typeof columns, LedgerPage>(
  'feed.entries',
  columns,
  () => `${withinEpoch},
scanned as materialized (
  (select e.*, w.customer_id, w.unit, e.tx as turn from bounds i join recoup.entries e on e.tx >= i.low and e.tx < i.high
     join recoup.wallets w on w.id = e.wallet_id
   where i.wallet_id is null and i.customer_id is null
     and (i.after_tx is null or e.tx > i.low or (e.wallet_id, e.seq) > (i.after_wallet, i.after_seq))
   order by e.tx, e.wallet_id, e.seq limit (select count from input))
  union all
  (select e.*, w.customer_id, w.unit, null from bounds i
     join recoup.wallets w on w.id = i.wallet_id and w.customer_id = coalesce(i.customer_id, w.customer_id)
     join recoup.entries e on e.wallet_id = i.wallet_id and e.seq > coalesce(i.after_seq, 0)
   order by e.seq limit (select count from input))
  union all
  (select e.*, w.customer_id, w.unit, null from bounds i
     join recoup.wallets w on w.customer_id = i.customer_id and w.id >= coalesce(i.after_wallet, '')
     cross join lateral (
       select * from recoup.entries where wallet_id = w.id and (w.id > coalesce(i.after_wallet, '') or seq > i.after_seq)
       order by seq limit i.count) e
   where i.wallet_id is null order by e.wallet_id, e.seq limit (select count from input)))
select json_build_array(json_build_object(${epochFacts},
  'scanned', count(*),
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

export interface LedgerCursor {
  cursor?: string | null;
  limit?: number;
}

type Behind = [kind: string, tx: string, wallet: string, seq: number, epoch?: string];

/** One page; see `Feed.entries`. */
export async function readEntries(
  runner: Runner,
  filter: LedgerFilter,
  options: LedgerCursor,
): Promise<{ entries: LedgerEntry[]; cursor: string | null; ended: boolean }> {
  check.onlyFields('entries', filter, ['wallet', 'customer', 'from', 'to']);
  check.onlyFields('entries', options, ['cursor', 'limit']);
  const count = check.optionalInteger('limit', options.limit, 1, 5000) ?? 1000;
  const wallet_id = check.optionalId('wallet', filter.wallet);
  const customer_id = check.optionalId('customer', filter.customer);
  const kind = wallet_id === null && customer_id === null ? 'all' : 'some';
  const cursor = options.cursor ?? null;
  const isBehind = (parts: unknown[]): parts is Behind =>
    parts[0] === kind &&
    isPosition(parts[1]) &&
    isText(parts[2]) &&
    Number.isSafeInteger(parts[3]) &&
    isText(parts[4] ?? '');
  const place = cursor === null ? null : decode(cursor, 'an export with these filters', isBehind);
  const [, after_tx, after_wallet, after_seq, epoch] = place ?? [];
  const at = { after_tx, after_wallet, after_seq, after_epoch: epoch || null };
  const period = { from_at: check.instant('from', filter.from), to_at: check.instant('to', filter.to) };
  const page = (await runner.read(readLedger, [{ ...at, wallet_id, customer_id, ...period, count }]))[0]!;
  // Numbers of a wallet that were lost are used again: wallet by wallet, a new epoch means from the beginning.
  refuseEpoch(page, after_tx ?? null, (from) =>
    kind === 'some' ? null : encode([...(from === null ? place!.slice(0, 4) : [kind, from, '', 0]), page.epoch.id]),
  );
  const behind = page.last ? encode([kind, ...page.last, page.epoch.id]) : cursor;
  return { entries: page.entries, cursor: behind, ended: page.scanned < count };
}
