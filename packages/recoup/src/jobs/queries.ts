// Reads of jobs: one, with its attempts; lists; what is due. None of them decides anything.
import { statement } from '../db/statement.ts';
import { type JobRow, jobJson } from './job.ts';

const key = { wallet_id: 'text', id: 'text' } as const;

export interface JobAndContent {
  job: JobRow | null;
  payload: unknown;
  result: unknown;
}

export const getJob = statement<typeof key, JobAndContent>(
  'job.get',
  key,
  () => `
one as (select j.* from input i join recoup.jobs j on j.wallet_id = i.wallet_id and j.id = i.id)
select coalesce((select json_agg(json_build_object('job', ${jobJson('j')}, 'payload', j.payload, 'result', j.result)) from one j), '[]')::text as answer`,
);

const compared = { wallet_id: 'text', id: 'text', queue: 'text', price: 'bigint', payload: 'jsonb' } as const;

export interface Compared {
  ord: number;
  job: JobRow | null;
  differs: string[];
  seq: number | null;
  balance: number | null;
}

/** For a submit that met its id: the job that is there, what differs from it, and the charge it was given. */
export const compareJob = statement<typeof compared, Compared>(
  'job.compare',
  compared,
  () => `
found as (
  select i.ord, i.queue as new_queue, i.price as new_price, i.payload as new_payload, j.*, e.seq, e.balance
  from input i
  left join recoup.jobs j on j.wallet_id = i.wallet_id and j.id = i.id
  left join recoup.entries e on e.wallet_id = i.wallet_id and e.job_id = i.id and e.type = 'charge')
select coalesce(json_agg(json_build_object('ord', ord, 'job', case when id is not null then ${jobJson('b')} end,
  'seq', seq, 'balance', balance,
  'differs', array_remove(array[case when price <> new_price then 'price' end,
    case when queue is distinct from new_queue then 'queue' end,
    case when payload is distinct from new_payload then 'payload' end], null))), '[]')::text as answer
from found b`,
);

/** How an attempt ended. */
export interface Attempt {
  attempt: number;
  endedAs: 'failed' | 'lapsed' | 'confirmed' | 'rejected' | 'released' | 'superseded' | 'canceled' | 'succeeded';
  verdict: 'definitive' | 'presumed' | null;
  jobState: string;
  reason: string | null;
  worker: string | null;
  /** The upstream that it was leased with. */
  upstream: string | null;
  upstreamRef: string | null;
  startedAt: Date | null;
  endedAt: Date;
}
type AttemptRow = Omit<Attempt, 'startedAt' | 'endedAt'> & { startedAt: string | null; endedAt: string };

export const decodeAttempt = ({ startedAt, endedAt, ...rest }: AttemptRow): Attempt => ({
  ...rest,
  startedAt: startedAt === null ? null : new Date(startedAt),
  endedAt: new Date(endedAt),
});

/** How the attempts of a job ended, in the order of when it became known. */
export const jobAttempts = statement<typeof key, AttemptRow>(
  'job.attempts',
  key,
  () => `
rows as (select a.* from input i join recoup.attempts a on a.wallet_id = i.wallet_id and a.job_id = i.id)
select coalesce(json_agg(json_build_object('attempt', attempt, 'endedAs', ended_as, 'verdict', verdict, 'jobState', job_state,
  'reason', reason, 'worker', worker, 'upstream', upstream_id, 'upstreamRef', upstream_ref, 'startedAt', started_at, 'endedAt', ended_at)
  order by ended_at, attempt, array_position(array['confirmed', 'rejected', 'succeeded'], ended_as) nulls first), '[]')::text as answer
from rows`,
);

const byRef = { upstream_ref: 'text' } as const;

/** The jobs and attempts that carry an upstream's reference: of the running attempt, or of one that ended. */
export const jobsByUpstreamRef = statement<typeof byRef, { job: JobRow; attempt: number }>(
  'job.byUpstreamRef',
  byRef,
  () => `
found as (
  select j.* from input i
  cross join lateral (select wallet_id, id, attempt from recoup.jobs where upstream_ref = i.upstream_ref limit 100) j
  union
  select a.* from input i
  cross join lateral (select wallet_id, job_id, attempt from recoup.attempts where upstream_ref = i.upstream_ref limit 100) a)
select coalesce((select json_agg(json_build_object('job', ${jobJson('j')}, 'attempt', f.attempt) order by f.attempt desc)
  from found f
  -- LIMIT keeps this a look-up by key for each row, whatever the statistics say
  cross join lateral (select * from recoup.jobs where wallet_id = f.wallet_id and id = f.id limit 1) j), '[]')::text as answer`,
);

const filter = {
  queue: 'text',
  wallet_id: 'text',
  reason: 'text',
  dead_before: 'timestamptz',
  after_at: 'timestamptz',
  after_wallet: 'text',
  after_id: 'text',
  count: 'int',
} as const;

const deadLetters = `
  from input i join recoup.jobs j on j.dead_at is not null and j.state = 'dead'
    and (i.queue is null or j.queue = i.queue) and (i.wallet_id is null or j.wallet_id = i.wallet_id)
    and (i.reason is null or j.reason = i.reason) and (i.dead_before is null or j.dead_at <= i.dead_before)`;

/** Dead letters of a filter, oldest first, a page at a time. */
export const listDeadLetters = statement<
  typeof filter,
  { job: JobRow; attempt: number; cursor: [string, string, string] }
>(
  'job.listDeadLetters',
  filter,
  () => `
rows as (
  select j.* ${deadLetters}
  where i.after_at is null or (j.dead_at, j.wallet_id, j.id) > (i.after_at, i.after_wallet, i.after_id)
  order by j.dead_at, j.wallet_id, j.id limit (select count from input))
select coalesce(json_agg(json_build_object('job', ${jobJson('j')}, 'attempt', attempt, 'cursor', json_build_array(dead_at, wallet_id, id))
  order by dead_at, wallet_id, id), '[]')::text as answer
from rows j`,
);

export interface RedrivePreview {
  /** Dead letters that match. */
  count: number;
  /** Credits that would be reclaimed if all of them succeeded. */
  mayReclaim: number;
  /** Wallets that would then be below zero. */
  walletsIntoDebt: number;
  /** The preview's instant: confirming it redrives what was dead by then. */
  asOf: string;
}

/** What a redrive of a filter would do. */
export const previewRedrive = statement<typeof filter, RedrivePreview>(
  'job.previewRedrive',
  filter,
  () => `
matching as (
  select j.wallet_id, count(*) as jobs, sum(j.price) filter (where j.refunded_at is not null) as reclaims ${deadLetters}
  group by j.wallet_id)
select json_build_array(json_build_object(
  'count', coalesce((select sum(jobs) from matching), 0), 'mayReclaim', coalesce((select sum(reclaims) from matching), 0),
  'walletsIntoDebt', (select count(*) from matching m join recoup.wallets w on w.id = m.wallet_id where w.balance - m.reclaims < 0),
  'asOf', coalesce((select dead_before from input), recoup.clock())))::text as answer`,
);

const page = { after_at: 'timestamptz', after_wallet: 'text', after_id: 'text', count: 'int' } as const;

export interface DueRow {
  wallet_id: string;
  id: string;
  n: number;
  due_at: string;
}

const due = (column: string) => `
rows as (
  select j.wallet_id, j.id, j.attempt, j.${column} as due_at
  from input i join recoup.jobs j on j.${column} is not null and j.${column} <= recoup.clock()
    and (i.after_at is null or (j.${column}, j.wallet_id, j.id) > (i.after_at, i.after_wallet, i.after_id))
    and (i.after_at is null or j.${column} >= i.after_at)
  order by j.${column}, j.wallet_id, j.id limit (select count from input))
select coalesce(json_agg(json_build_object('wallet_id', wallet_id, 'id', id, 'n', attempt, 'due_at', due_at)
  order by due_at, wallet_id, id), '[]')::text as answer
from rows`;

/** Leases that have lapsed, and deadlines that have passed, oldest first: candidates only, the guard of job.lapse decides. */
export const dueLeases = statement<typeof page, DueRow>('job.dueLeases', page, () => due('lease_until'));
export const dueDeadlines = statement<typeof page, DueRow>('job.dueDeadlines', page, () => due('deadline_at'));

export interface NextDue {
  /** Milliseconds until the next lease or deadline passes, by the database's clock; null: nothing is pending. */
  inMs: number | null;
}

const none = { nothing: 'boolean' } as const;

export const nextDue = statement<typeof none, NextDue>(
  'job.nextDue',
  none,
  () => `
next as (
  select least((select lease_until from recoup.jobs where lease_until is not null order by lease_until limit 1),
               (select deadline_at from recoup.jobs where deadline_at is not null order by deadline_at limit 1),
               (select rolls_at from recoup.limits where rolls_at is not null order by rolls_at limit 1),
               (select due_at from recoup.subscriptions where due_at is not null order by due_at limit 1),
               (select next_expiry_at from recoup.wallets where next_expiry_at is not null and next_expiry_at < 'infinity'
                order by next_expiry_at limit 1)) as at)
select json_build_array(json_build_object('inMs', ceil(extract(epoch from at - recoup.clock()) * 1000)))::text as answer from next`,
);

const queueOnly = { queue: 'text' } as const;

/** Milliseconds until the next queued job of a queue may start; null: none is queued. */
export const nextReady = statement<typeof queueOnly, NextDue>(
  'job.nextReady',
  queueOnly,
  () => `
next as (
  select min(j.not_before) as at
  from input i cross join generate_series(0, 9) p
  cross join lateral (
    select not_before from recoup.jobs where state = 'queued' and queue = i.queue and priority = p order by not_before limit 1) j)
select json_build_array(json_build_object('inMs', ceil(extract(epoch from at - recoup.clock()) * 1000)))::text as answer from next`,
);
