// What verify holds of upstreams and what happened to them beside their blocks.
import { settingsOf } from './register.ts';

export const upstreamChecks = [
  {
    // What a replica of before this schema registered beside newer ones has none, and counts none.
    name: 'upstreams.events',
    promise:
      'An upstream has the events 1 … n that it counts: the first registers it, and the last says how it is set.',
    sql: `
select null::text as wallet, null::bigint as seq, null::text as job,
  'upstream ' || coalesce(u.id, e.upstream_id) || case when u.id is null then ' has events and is not there'
    when e.upstream_id is null or e.count <> u.events or e.last <> u.events
      then ' counts ' || u.events || ' events and has ' || coalesce(e.count, 0) || coalesce(', up to ' || e.last, '')
    when e.registrations <> 1 then ' was not registered by its first event, or by another too'
    else ' is set to ' || (${settingsOf('u')})::text || ', its last event says ' || e.settings::text end as detail
from recoup.upstreams u
full join (
  select upstream_id, count(*) as count, max(number) as last,
    count(*) filter (where (type = 'registered') = (number = 1)) - count(*) + 1 as registrations,
    (array_agg(settings order by number desc))[1] as settings
  from recoup.upstream_events group by upstream_id) e on e.upstream_id = u.id
where u.id is null or (e.upstream_id is null and u.events > 0) or e.count <> u.events or e.last <> u.events or e.registrations <> 1
  or e.settings <> ${settingsOf('u')}
order by coalesce(u.id, e.upstream_id) limit $1`,
  },
  {
    name: 'blocks.contradicted',
    promise: 'What speaks against a block came after it opened.',
    sql: `
select null::text as wallet, null::bigint as seq, null::text as job,
  'block ' || id || ' opened at ' || opened_at || ' and is contradicted since ' || contradicted_at as detail
from recoup.blocks where contradicted_at < opened_at
order by id limit $1`,
  },
] as const;
