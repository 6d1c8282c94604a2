// What counts for which upstream: limits on it, on its quota group, on its provider and on its route.

import { endOf } from '../windows/end.ts';
import { limitsOf } from '../windows/queries.ts';
import { resetOf } from '../windows/reset.ts';
import { setOf } from '../windows/set.ts';
import { useOf } from '../windows/use.ts';
import type { LimitStatements } from '../windows/windows.ts';
import { forgetQuota } from './quota.ts';
import { subjectsOf } from './usable.ts';

/** A use is booked on the limits of the upstream that is named, or that the lease is of; and of the group and route that the lease has, whatever was changed since. */
export const useUpstream = useOf(
  { upstream_id: 'text', lease_id: 'text' },
  `cross join lateral (
    select u.id, u.provider, case when l.there then l.quota_group else u.quota_group end collate "C" as quota_group, coalesce(l.route, u.route) collate "C" as route
    from recoup.upstreams u
    left join lateral (
      select true as there, quota_group, route from recoup.upstream_leases where id = i.lease_id and upstream_id = u.id offset 0) l on true
    where u.id = coalesce(i.upstream_id, (select x.upstream_id from recoup.upstream_leases x where x.id = i.lease_id)) offset 0) u
  cross join lateral ${subjectsOf('u')}`,
  'upstream',
);

/** A misspelt upstream would never be limited. */
const MISSING = `case when h.subject_type = 'upstream' and not exists (select from recoup.upstreams u where u.id = h.subject_id) then 'no_upstream' end`;

export const ofUpstreams: LimitStatements = {
  set: setOf(MISSING, forgetQuota),
  end: endOf(forgetQuota),
  reset: resetOf(forgetQuota),
  list: limitsOf(
    { limit_id: 'text', subject_type: 'text', subject_id: 'text' },
    `cross join lateral (
    select l.id from recoup.limits l where l.id = i.limit_id and (i.subject_type is null or (l.subject_type, l.subject_id) = (i.subject_type, i.subject_id))
    union all
    select l.id from recoup.limits l where i.limit_id is null and l.subject_type = i.subject_type and l.subject_id = i.subject_id
    union all
    select l.id from recoup.upstreams u
    cross join lateral ${subjectsOf('u')}
    cross join lateral (
      select id from recoup.limits l where l.subject_type = subject.type and l.subject_id = subject.id offset 0) l
    where i.limit_id is null and i.subject_type = 'upstream' and u.id = i.subject_id and subject.type <> 'upstream') named`,
  ),
};
