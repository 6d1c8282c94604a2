// limit.end: a limit does not count any more.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';

const endColumns = { limit_id: 'text' } as const;

/**
 * Guard: it counts. What was used of it stays on its rows. `freed`: a CTE for what rests on the limits that `won` names, of `seen`.
 */
export const endOf = (freed: string) =>
  statement<typeof endColumns, RawAnswer>(
    'limit.end',
    endColumns,
    (lock) => `
held as materialized (
  select i.*, l.*, row_number() over (partition by i.limit_id order by i.ord) as twin,
    (select true from recoup.limits l where l.id = i.limit_id) as there
  from (select * from input order by limit_id, ord) i
  left join lateral (
    select ctid as tid, tableoid as part, id, subject_type, subject_id, ended_at from recoup.limits where id = i.limit_id for no key update ${lock}) l on true),
seen as materialized (
  select h.*, case when id is null then case when there then 'busy' else 'no_limit' end when twin > 1 then 'again'
    when ended_at is not null then 'duplicate' else 'ended' end as verdict
  from held h),
won as (
  update recoup.limits l set ended_at = recoup.clock(), rolls_at = null
  from seen s where l.ctid = s.tid and l.tableoid = s.part and s.verdict = 'ended'
  returning s.ord),
${freed}${answerEach(
  'seen s',
  `case when verdict = 'ended' and not exists (select from won w where w.ord = s.ord) then 'again' else verdict end`,
  {},
)}`,
    { holds: 'limit_id' },
  );
