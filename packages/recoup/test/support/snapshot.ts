// One snapshot of everything that model and database both know, by SQL, and a job of the model in the same words.
import type { EndedAttempt, Job } from '../../model/world.ts';

export const ended = ({ wallet, job, attempt, endedAs, verdict }: EndedAttempt) =>
  `${wallet}/${job} ${attempt} ${endedAs} ${verdict}`;

/** A job's row in the model, as the snapshot has it. */
export function seen({ wallet: _wallet, id: _id, ...job }: Job) {
  return job;
}

const instant = (column: string) => `round(extract(epoch from j.${column}) * 1000 - $1::numeric)::bigint`;
const has = (column: string) => `j.${column} is not null`;
const COLUMNS: Record<keyof ReturnType<typeof seen>, string> = {
  ...{ queue: 'j.queue', state: 'j.state', price: 'j.price', payload: `j.payload #>> '{}'`, refundOn: 'j.refund_on' },
  ...{ maxFailures: 'j.max_failures', attempt: 'j.attempt', failures: 'j.failures', releases: 'j.releases' },
  ...{ failedAttempt: 'j.failed_attempt', verdict: 'j.verdict', notBefore: instant('not_before') },
  ...{ leaseUntil: instant('lease_until'), deadlineAt: instant('deadline_at'), dead: has('dead_at') },
  ...{ refunded: has('refunded_at'), succeeded: has('succeeded_at'), succeededAttempt: 'j.succeeded_attempt' },
  ...{
    reclaimed: has('reclaimed_at'),
    settled: has('settled_at'),
    finalPrice: 'j.final_price',
    canceled: has('canceled_at'),
  },
};

/**
 * `$1`: the instant that the model's clock counts from, in ms. `$2`: whether the order of entries counts. `$3`: one wallet, or null
 * for all of them.
 */
export const SNAPSHOT = `select json_build_object(
  'wallets', (select coalesce(json_object_agg(id, json_build_array(status, balance, overdraft_limit, last_seq)), '{}') from recoup.wallets
    where $3::text is null or id = $3),
  'entries', (select coalesce(json_agg(concat_ws(' ', wallet_id, type, amount, coalesce(job_id, 'null'), coalesce(key, 'null'),
    case when $2 then seq || ' ' || balance end)), '[]') from recoup.entries where $3::text is null or wallet_id = $3),
  'jobs', (select coalesce(json_object_agg(wallet_id || '/' || id, json_build_object(
    ${Object.entries(COLUMNS)
      .map(([name, sql]) => `'${name}', ${sql}`)
      .join(', ')})), '{}') from recoup.jobs j where $3::text is null or wallet_id = $3),
  'attempts', (select coalesce(json_agg(wallet_id || '/' || job_id || ' ' || attempt || ' ' || ended_as || ' ' || coalesce(verdict, 'null')), '[]')
    from recoup.attempts where $3::text is null or wallet_id = $3)) as world`;
