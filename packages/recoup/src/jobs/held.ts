// The start of every statement that moves existing jobs: each input beside its job's newest version, held.

import { answerEach } from '../db/statement.ts';

const COLUMNS = `state, queue, price, refund_on, max_failures, attempt, failures, releases, failed_attempt, verdict,
      not_before, lease_until, deadline_at, worker, upstream_id, upstream_ref, upstream_errors, ready_at, reason, started_at, dead_at,
      refunded_at, succeeded_at, succeeded_attempt, reclaimed_at, settled_at, final_price, canceled_at`;

/**
 * CTE `work`: the inputs (of `source`: `held` where wallets are held first, else `input`) with their jobs, locked in
 * (wallet, job) order. Guards read these columns: they are of the row as it is now, not as the snapshot saw it.
 */
export const holdJobs = (lock: string, source: 'held' | 'input') => `
work as materialized (
  select i.*, j.*${source === 'input' ? ', recoup.clock() as now, recoup.clock() as at' : ''}
  from (select * from ${source} order by wallet_id, id, ord) i
  left join lateral (
    select true as has_job, ctid as tid, tableoid as part, ${COLUMNS}
    from recoup.jobs where wallet_id = i.wallet_id and id = i.id for no key update ${lock}) j on true)`;

/**
 * CTE `turn` over `judged` (which says `may`: the guard holds): `earlier` counts the inputs of the same job before this
 * one whose guard holds. Only the first may win; what stands behind it runs `again`, on the row that the first one left. So
 * does what is `behind` another input for a reason of its statement.
 */
export const takeTurns = (behind = '') => `
turn as (
  select s.*, count(*) filter (where may) over (
    partition by wallet_id, id order by ord rows between unbounded preceding and 1 preceding)${behind === '' ? '' : ` + (${behind})::int`} as earlier
  from judged s)`;

/**
 * The end of a write to `jobs j` from `seen s`: by ctid, so that exactly the version is written that is held and was judged,
 * and no guard is left to repeat. A version newer than the snapshot cannot be found that way: its input runs `again`. A ctid
 * alone is not unique where somebody has partitioned the table.
 */
export const asJudged = `
  from seen s where j.ctid = s.tid and j.tableoid = s.part and s.wins
  returning s.ord`;

/** The answers of a statement that moves no money: over `seen` and `won`, with `moved` where the job was written. */
export const answerMoved = (others: Record<string, string>) =>
  answerEach(
    '(select s.*, w.ord is not null as moved from seen s full join won w on w.ord = s.ord) s',
    `case when wins and not moved then 'again' else outcome end`,
    others,
  );

/**
 * Whether the snapshot has the input's job, or its charge. By key, true or null. Not EXISTS: a generic plan may answer
 * that from a hash of the whole table.
 */
export const jobThere = `(select true from recoup.jobs j where j.wallet_id = s.wallet_id and j.id = s.id)`;
export const chargeThere = `(select true from recoup.entries e
        where e.wallet_id = s.wallet_id and e.job_id = s.id and e.type = 'charge')`;

/** What an input whose job is not held means: held by another transaction, pruned, or never there. */
export const withoutJob = `
      when has_job is null and ${jobThere} then 'busy'
      when has_job is null and ${chargeThere} then 'pruned'
      when has_job is null then 'no_job'`;

/** The settings of a job's queue: its own row, or the row of all others. The limit keeps it a look-up by key: never a hash of all queues. */
export const queueOf = (queue: string, columns: string) => `
    select ${columns} from recoup.queues where id = coalesce((select id from recoup.queues where id = ${queue}), '*') limit 1`;
