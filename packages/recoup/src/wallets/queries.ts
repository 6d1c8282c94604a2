// Reads of wallets and entries: balances now and at an instant, the ledger page by page, what a job took.
import { statement } from '../db/statement.ts';
import type { EntryType } from '../outcomes.ts';

const one = { wallet_id: 'text' } as const;

/** All figures in the wallet's smallest unit. */
export interface BalanceRow {
  wallet: string;
  customer: string;
  unit: string;
  status: 'active' | 'closed';
  /** The ledger's balance: negative is a debt. */
  booked: number;
  overdraftLimit: number;
  /** What a submit may cost now; 0 in debt beyond the overdraft limit, or when the wallet is closed. */
  spendable: number;
  /** Charged for jobs that have not ended. */
  held: number;
  /** Given back for jobs that may still succeed: taken again if they do. */
  atRisk: number;
  lastSeq: number;
  lastEntryAt: string | null;
  /** When its credit has to be looked at; null: none of it ever expires. */
  nextExpiryAt: string | null;
}

/** A wallet's balance and what stands behind it. */
export const getBalance = statement<typeof one, BalanceRow>(
  'wallet.balance',
  one,
  () => `
w as materialized (select w.* from input i join recoup.wallets w on w.id = i.wallet_id)
select coalesce(json_agg(json_build_object('wallet', id, 'customer', customer_id, 'unit', unit, 'status', status, 'booked', balance,
  'overdraftLimit', overdraft_limit, 'spendable', case when status = 'active' then greatest(balance + overdraft_limit, 0) else 0 end,
  'held', coalesce((select sum(price) from recoup.jobs j where j.wallet_id = w.id
                    and j.state in ('queued', 'running', 'waiting') and j.refunded_at is null), 0),
  'atRisk', coalesce((select sum(price) from recoup.jobs j where j.wallet_id = w.id
                    and j.refunded_at is not null and j.succeeded_at is null and j.canceled_at is null), 0),
  'lastSeq', last_seq, 'lastEntryAt', last_entry_at, 'nextExpiryAt', next_expiry_at)), '[]')::text as answer
from w`,
);

const instant = { wallet_id: 'text', at: 'timestamptz' } as const;

export interface BalanceAtRow {
  wallet: string;
  at: string;
  /** The last entry at or before the instant; 0: none yet. */
  seq: number;
  booked: number;
  /** What a submit might have cost then, under the overdraft limit of today: its history is not kept. */
  spendable: number;
}

/** The balance after the last entry at or before an instant: a binary search over seq, since created_at never falls along it. */
export const balanceAt = statement<typeof instant, BalanceAtRow>(
  'wallet.balanceAt',
  instant,
  () => `
recursive_start as materialized (select i.wallet_id, i.at, w.last_seq from input i join recoup.wallets w on w.id = i.wallet_id),
found as (
  with recursive search(wallet_id, at, low, high) as (
    select wallet_id, at, 0::bigint, last_seq from recursive_start
    union all
    select s.wallet_id, s.at, case when e.created_at <= s.at then e.seq else s.low end,
      case when e.created_at <= s.at then s.high else e.seq - 1 end
    from search s
    cross join lateral (select seq, created_at from recoup.entries
                        where wallet_id = s.wallet_id and seq = (s.low + s.high + 1) / 2) e
    where s.low < s.high)
  select wallet_id, at, low as seq from search where low >= high)
select coalesce(json_agg(json_build_object('wallet', f.wallet_id, 'at', f.at, 'seq', f.seq, 'booked',
  e.booked, 'spendable', greatest(e.booked + (select overdraft_limit from recoup.wallets w where w.id = f.wallet_id), 0))), '[]')::text as answer
from found f
cross join lateral (select coalesce((select balance from recoup.entries e where e.wallet_id = f.wallet_id and e.seq = f.seq), 0) as booked) e`,
);

const upTo = { wallet_id: 'text', seq: 'bigint', at: 'timestamptz' } as const;

/**
 * What stood at risk after an entry: refunds not taken back by then, of jobs not canceled by then. Reads the wallet's
 * entries up to it. A job that was refunded, then canceled, then pruned counts as canceled from the start.
 */
export const riskAt = statement<typeof upTo, { atRisk: number }>(
  'wallet.riskAt',
  upTo,
  () => `
refunds as (
  select e.wallet_id, e.job_id, e.amount from input i
  join recoup.entries e on e.wallet_id = i.wallet_id and e.seq <= i.seq and e.type = 'refund')
select json_build_array(json_build_object('atRisk', coalesce(sum(r.amount), 0)))::text as answer
from input i cross join refunds r
left join recoup.jobs j on j.wallet_id = r.wallet_id and j.id = r.job_id
where not (j.canceled_at is not null and j.canceled_at <= i.at)
  and (j.id is not null or (select true from recoup.entries e where e.wallet_id = r.wallet_id and e.job_id = r.job_id and e.type = 'reclaim'))
  and (select seq from recoup.entries e where e.wallet_id = r.wallet_id and e.job_id = r.job_id and e.type = 'reclaim' and e.seq <= i.seq) is null`,
);

const page = {
  wallet_id: 'text',
  after_seq: 'bigint',
  before_seq: 'bigint',
  job_id: 'text',
  count: 'int',
  newest_first: 'boolean',
} as const;

/** One immutable row of the ledger, with the note beside it (null once erased) and its job's state (null once pruned). */
export interface EntryRow {
  wallet: string;
  seq: number;
  type: EntryType;
  amount: number;
  balance: number;
  job: string | null;
  key: string | null;
  reason: string | null;
  actor: string | null;
  note: string | null;
  jobState: string | null;
  jobReason: string | null;
  createdAt: string;
}

/** Of a refund: why the attempt that it was for ended, at that very instant; a later failure has another reason. Else the job's latest. */
const jobReason = `case when e.type = 'refund' and e.reason <> 'canceled' then (select a.reason from recoup.attempts a
    where a.wallet_id = e.wallet_id and a.job_id = e.job_id and a.ended_at = e.created_at limit 1) else j.reason end`;

const entryJson = `json_build_object('wallet', e.wallet_id, 'seq', e.seq, 'type', e.type, 'amount', e.amount, 'balance', e.balance,
  'job', e.job_id, 'key', e.key, 'reason', e.reason, 'actor', e.actor, 'note', n.note, 'jobState', j.state, 'jobReason', ${jobReason},
  'createdAt', e.created_at)`;

const besides = `
left join recoup.notes n on n.wallet_id = e.wallet_id and n.seq = e.seq
left join recoup.jobs j on j.wallet_id = e.wallet_id and j.id = e.job_id`;

/** Entries of a wallet in seq order (or newest first), a page at a time. */
export const listEntries = statement<typeof page, EntryRow>(
  'wallet.entries',
  page,
  () => `
rows as (
  (select e.* from input i join recoup.entries e on e.wallet_id = i.wallet_id and e.seq > coalesce(i.after_seq, 0)
     and e.seq < coalesce(i.before_seq, 9223372036854775807)
   where not coalesce(i.newest_first, false) order by e.seq limit (select count from input))
  union all
  (select e.* from input i join recoup.entries e on e.wallet_id = i.wallet_id and e.seq > coalesce(i.after_seq, 0)
     and e.seq < coalesce(i.before_seq, 9223372036854775807)
   where i.newest_first order by e.seq desc limit (select count from input)))
select coalesce(json_agg(${entryJson} order by case when i.newest_first then -e.seq else e.seq end), '[]')::text as answer
from input i cross join rows e ${besides}`,
);

const ofJob = { wallet_id: 'text', job_id: 'text' } as const;

/** What one job put into the ledger, with the adjusts that name it. */
export const entriesOfJob = statement<typeof ofJob, EntryRow>(
  'wallet.entriesOfJob',
  ofJob,
  () => `
rows as (
  select e.* from input i join recoup.entries e on e.wallet_id = i.wallet_id and e.job_id = i.job_id
    and e.type in ('charge', 'refund', 'reclaim', 'settle')
  union all
  select e.* from input i join recoup.entries e on e.wallet_id = i.wallet_id and e.job_id = i.job_id
    and e.type = 'adjust' and e.job_id is not null)
select coalesce(json_agg(${entryJson} order by e.seq), '[]')::text as answer
from rows e ${besides}`,
);
