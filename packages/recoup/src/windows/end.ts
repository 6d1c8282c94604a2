// limit.end: a limit does not count any more.

import { statement } from '../db/statement.ts';
import { type DecidedRow, decided, held } from './held.ts';

const endColumns = { limit_id: 'text' } as const;

/**
 * Guard: it counts. What was used of it stays on its rows. `freed`: a CTE for what rests on the limits that `won` names, of `seen`.
 */
export const endOf = (freed: string) =>
  statement<typeof endColumns, DecidedRow>(
    'limit.end',
    endColumns,
    (lock) => `${held(lock)},
seen as materialized (
  select h.*, case when id is null then case when there then 'busy' else 'no_limit' end when twin > 1 then 'again'
    when ended_at is not null then 'duplicate' else 'ended' end as verdict
  from held h),
won as (
  update recoup.limits l set ended_at = recoup.clock(), rolls_at = null
  from seen s where l.ctid = s.tid and l.tableoid = s.part and s.verdict = 'ended'
  returning s.ord),
${freed}${decided('ended')}`,
    { holds: 'limit_id' },
  );
