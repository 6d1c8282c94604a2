// job.handOver: the provider works on it now, no worker is held; its callback ends the job, or a deadline does.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { holdJobs, takeTurns, withoutJob } from './held.ts';

export interface HandOverRow extends RawAnswer {
  deadline_at: string | null;
}

const columns = { wallet_id: 'text', id: 'text', n: 'int', deadline_ms: 'bigint', new_ref: 'text' } as const;

/** Guard: running, attempt = n. The attempt goes on: same number, same fencing. */
export const handOverJob = statement<typeof columns, HandOverRow>(
  'job.handOver',
  columns,
  (lock) => `${holdJobs(lock, 'input')},
judged as materialized (
  select s.*, now + deadline_ms * interval '1 millisecond' as until, coalesce(state = 'running' and attempt = n, false) as may
  from work s),
${takeTurns},
seen as materialized (
  select s.*, may and earlier = 0 as wins,
    case ${withoutJob}
      when canceled_at is not null then 'canceled'
      when succeeded_at is not null then 'succeeded'
      when earlier > 0 then 'again'
      when may then 'handed_over'
      when state = 'waiting' and attempt = n then 'duplicate'
      else 'stale'
    end as outcome
  from turn s),
won as (
  insert into recoup.jobs as j (wallet_id, id, queue, state, price, max_failures, attempt, failures, deadline_at, upstream_ref)
  select wallet_id, id, queue, 'waiting', price, max_failures, attempt, failures, until, coalesce(new_ref, upstream_ref) from seen where wins
  on conflict (wallet_id, id) do update set
    state = 'waiting', deadline_at = excluded.deadline_at, upstream_ref = excluded.upstream_ref, lease_until = null
  where j.state = 'running' and j.attempt = excluded.attempt
  returning j.wallet_id, j.id)
select coalesce(json_agg(json_build_object('ord', ord, 'outcome', case when wins and w.id is null then 'again' else outcome end,
  'deadline_at', case when wins then until else deadline_at end)), '[]')::text as answer
from seen s full join won w on w.wallet_id = s.wallet_id and w.id = s.id`,
);
