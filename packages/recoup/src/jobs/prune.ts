// job.prune: jobs that ended long ago lose their row. Their entries stay, so their ids stay used.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';

const columns = { older_than_ms: 'bigint', count: 'int' } as const;

export interface PruneRow extends RawAnswer {
  pruned: number;
}

/** Guard: succeeded or canceled before clock − older_than_ms. Dead, discarded and failed jobs are never pruned. */
export const pruneJobs = statement<typeof columns, PruneRow>(
  'job.prune',
  columns,
  () => `
pick as materialized (
  select j.wallet_id, j.id
  from input i
  cross join lateral (
    select wallet_id, id from recoup.jobs
    where state in ('succeeded', 'canceled')
      and coalesce(succeeded_at, canceled_at) < recoup.clock() - i.older_than_ms * interval '1 millisecond'
    order by coalesce(succeeded_at, canceled_at) limit i.count for update skip locked) j),
gone as (
  delete from recoup.jobs j using pick p
  where j.wallet_id = p.wallet_id and j.id = p.id and j.state in ('succeeded', 'canceled')
  returning j.wallet_id, j.id),
attempts_gone as (
  delete from recoup.attempts a using pick p where a.wallet_id = p.wallet_id and a.job_id = p.id)
select json_build_array(json_build_object('ord', 1, 'outcome', 'pruned', 'pruned', (select count(*) from gone)))::text as answer`,
);
