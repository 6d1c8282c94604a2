// job.extend: a worker that is still at it keeps its lease; what it has learned of the upstream's reference is kept.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { answerMoved, asJudged, holdJobs, queueOf, takeTurns, withoutJob } from './held.ts';
import { keepSlots } from './slots.ts';

export interface ExtendRow extends RawAnswer {
  lease_until: string | null;
}

const columns = { wallet_id: 'text', id: 'text', n: 'int', lease_ms: 'bigint', new_ref: 'text' } as const;

/** Guard: running, attempt = n. A lease past its time that no sweep has lapsed yet may still be extended. */
export const extendJob = statement<typeof columns, ExtendRow>(
  'job.extend',
  columns,
  (lock) => `${holdJobs(lock, 'input')},
judged as (
  select s.*, greatest(lease_until, now + coalesce(s.lease_ms, q.lease_ms) * interval '1 millisecond') as until,
    coalesce(state = 'running' and attempt = n, false) as may
  from (select w.* from work w) s
  left join lateral (select r.lease_ms from (${queueOf('s.queue', 'lease_ms')}) r) q on true),
${takeTurns()},
seen as materialized (
  select s.*, may and earlier = 0 as wins,
    case ${withoutJob}
      when canceled_at is not null then 'canceled'
      when succeeded_at is not null then 'succeeded'
      when earlier > 0 then 'again'
      when may then 'extended'
      else 'stale'
    end as outcome
  from turn s),
won as (
  update recoup.jobs j set lease_until = s.until, upstream_ref = coalesce(s.new_ref, s.upstream_ref)${asJudged}),${keepSlots('until')}${answerMoved({ lease_until: 'case when moved then until else lease_until end' })}`,
);
