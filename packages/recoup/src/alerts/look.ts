// alert.look: fires what holds and does not fire yet, ends what fires and does not hold any more, in one statement.

import { type Columns, statement } from '../db/statement.ts';
import { holdsNow } from './conditions.ts';

const columns = { idle_ms: 'bigint', blocked_ms: 'bigint' } as const satisfies Columns;

export interface LookedRow {
  fired: number;
  recovered: number;
}

/**
 * Guard of firing: the condition holds, and its last alert is over; the next number is this one's, so that of replicas that look at once, or that
 * looked before another one fired and ended it, one fires. Guard of the end: this one fires, and its condition does not hold.
 */
export const lookAtAlerts = statement<typeof columns, LookedRow>(
  'alert.look',
  columns,
  () => `${holdsNow},
firing as materialized (select kind, subject, number from recoup.alerts where recovered_at is null),
fired as (
  insert into recoup.alerts (kind, subject, number, fired_at, facts)
  select h.kind, h.subject, coalesce((
    select a.number from recoup.alerts a where a.kind = h.kind and a.subject = h.subject order by a.number desc limit 1), 0) + 1, recoup.clock(), h.facts
  from holds h where not exists (select from firing f where f.kind = h.kind and f.subject = h.subject)
  order by h.kind, h.subject
  on conflict do nothing
  returning kind, subject, number, fired_at as at),
recovered as (
  update recoup.alerts a set recovered_at = greatest(a.fired_at, recoup.clock())
  from firing f
  where a.kind = f.kind and a.subject = f.subject and a.number = f.number and a.recovered_at is null
    and not exists (select from holds h where h.kind = f.kind and h.subject = f.subject)
  returning a.kind, a.subject, a.number, a.recovered_at as at),
told as (
  insert into recoup.alert_events (kind, subject, number, type, at)
  select kind, subject, number, 'firing', at from fired
  union all
  select kind, subject, number, 'recovered', at from recovered)
select json_build_array(json_build_object('fired', (select count(*) from fired), 'recovered', (select count(*) from recovered)))::text as answer`,
);
