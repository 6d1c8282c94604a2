// An upstream that has used up a limit of its own stands apart, so that selections do not walk over it; and comes back early.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { freeAt, usedOf } from '../windows/rules.ts';

/** CTE behind a limit that was freed early: its upstream is looked at again. Found by its id, whatever the snapshot says of it. */
export const forgetQuota = `
freed as (
  update recoup.upstreams u set quota_until = null
  from (select distinct s.subject_id from seen s join won using (ord) where s.subject_type = 'upstream') s where u.id = s.subject_id)`;

/** The own limits of everything of an upstream, by its id. */
const ownLimits = (id: string) =>
  `l.subject_type = 'upstream' and l.subject_id = ${id} and l.scope = '' and l.ended_at is null`;

/** Until when the upstream `u` is out by limits of its own of everything; null: it is not. */
export const quotaUntil = (u: string) => `(
    select max(${freeAt('l')}) from recoup.limits l
    where ${ownLimits(`${u}.id`)} and ${usedOf('l')} >= l.amount)`;

const columns = { upstream_id: 'text' } as const;

/**
 * Said behind a use that filled a limit, or began its next window: for speed, and a process that dies before it leaves nothing wrong. It waits for nobody. The limits are held so
 * that nobody frees one meanwhile, and looked at only where none is newer than the snapshot; else, and where somebody holds the upstream, `again`.
 */
export const setApart = statement<typeof columns, RawAnswer>(
  'upstream.setApart',
  columns,
  () => `
own as materialized (
  select l.id, h.tid is not distinct from l.tid as same
  from input i
  cross join lateral (select l.id, l.ctid as tid from recoup.limits l where ${ownLimits('i.upstream_id')} order by l.id) l
  left join lateral (select ctid as tid from recoup.limits where id = l.id for share skip locked) h on true),
held as materialized (
  select u.* from input i
  cross join lateral (
    select ctid as tid, tableoid as part, id, quota_until from recoup.upstreams u where u.id = i.upstream_id for no key update skip locked) u
  where (select bool_and(same) from own)),
apart as (
  update recoup.upstreams u set quota_until = h.until
  from (select h.*, ${quotaUntil('h')} as until from held h) h
  where u.ctid = h.tid and u.tableoid = h.part and h.until is distinct from h.quota_until
  returning u.id)
select json_build_array(json_build_object('ord', 1, 'outcome', case when exists (select from apart) then 'apart'
  when exists (select from held h where ${quotaUntil('h')} is not distinct from h.quota_until) then 'same' else 'again' end))::text as answer`,
  { holds: 'upstream_id' },
);

const ids = { upstream_id: 'text' } as const;

/**
 * Said behind the roll of their limits: what they stood apart for is over, also where the clock is set back behind it later. Who holds one is
 * about to say the same, or selects it.
 */
export const joinAgain = statement<typeof ids, { joined: number }>(
  'upstream.joinAgain',
  ids,
  () => `
held as materialized (
  select ctid as tid, tableoid as part from recoup.upstreams u
  where u.id = any (array(select upstream_id from input)) and u.quota_until <= recoup.clock() order by u.id for no key update skip locked),
joined as (
  update recoup.upstreams u set quota_until = null from held h where u.ctid = h.tid and u.tableoid = h.part returning u.id)
select json_build_array(json_build_object('joined', (select count(*) from joined)))::text as answer`,
  { holds: 'upstream_id' },
);

/** What verify asks, as in ../verify.ts. */
export const quotaCheck = {
  name: 'upstreams.quota_until',
  promise: 'An upstream stands apart for limits of its own no longer than one of them is used up.',
  sql: `
select null::text as wallet, null::bigint as seq, null::text as job,
  'upstream ' || u.id || ' stands apart until ' || u.quota_until || ', its limits say ' || coalesce(u.until::text, 'nothing') as detail
from (select u.*, ${quotaUntil('u')} as until from recoup.upstreams u where u.quota_until > recoup.clock()) u
where u.until is null or u.until < u.quota_until
order by u.id limit $1`,
} as const;
