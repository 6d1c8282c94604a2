// job.handOver: the provider works on it now, no worker is held; its callback ends the job, or a deadline does.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { answerMoved, asJudged, holdJobs, takeTurns, withoutJob } from './held.ts';
import { keepSlots } from './slots.ts';

export interface HandOverRow extends RawAnswer {
  deadline_at: string | null;
}

const columns = { wallet_id: 'text', id: 'text', n: 'int', deadline_ms: 'bigint', new_ref: 'text' } as const;

/** Guard: running, attempt = n. The attempt goes on: same number, same fencing. */
export const handOverJob = statement<typeof columns, HandOverRow>(
  'job.handOver',
  columns,
  (lock) => `${holdJobs(lock, 'input')},
judged as (
  select s.*, now + deadline_ms * interval '1 millisecond' as until, coalesce(state = 'running' and attempt = n, false) as may
  from work s),
${takeTurns()},
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
  update recoup.jobs j set
    state = 'waiting', deadline_at = s.until, upstream_ref = coalesce(s.new_ref, s.upstream_ref), lease_until = null${asJudged}),${keepSlots('until')}${answerMoved({ deadline_at: 'case when moved then until else deadline_at end' })}`,
);
