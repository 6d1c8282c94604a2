// What verify holds of upstreams and what happened to them beside their blocks.
import { settingsOf } from './register.ts';

export const upstreamChecks = [
  {
    name: 'upstreams.blocked_until',
    promise: 'An upstream is out for as long as the latest of its own open blocks of everything, and no longer.',
    sql: `
select null::text as wallet, null::bigint as seq, null::text as job,
  'upstream ' || u.id || ' is out until ' || coalesce(u.blocked_until::text, 'nothing') || ', its blocks say ' || coalesce(b.until::text, 'nothing') as detail
from recoup.upstreams u
left join (
  select subject_id, max(coalesce(until, 'infinity')) as until from recoup.blocks
  where subject_type = 'upstream' and scope = '' and closed_at is null group by subject_id) b on b.subject_id = u.id
where u.blocked_until is distinct from b.until
order by u.id limit $1`,
  },
  {
    name: 'blocks.events',
    promise:
      'A block has the events 1 … generation: the first opens it, and the last closes it exactly if it is closed.',
    sql: `
select null::text as wallet, null::bigint as seq, null::text as job,
  'block ' || coalesce(b.id, e.block_id) || case when b.id is null then ' has events and is not there'
    when e.block_id is null then ' has no events'
    when e.count <> b.generation or e.first <> 1 or e.last <> b.generation
      then ' is in generation ' || b.generation || ' and has ' || e.count || ' events, ' || e.first || ' to ' || e.last
    when e.openings <> 1 then ' was not opened by its first event, or by another too'
    else ' and its last event disagree whether it is closed' end as detail
from recoup.blocks b
full join (
  select block_id, count(*) as count, min(generation) as first, max(generation) as last,
    count(*) filter (where (type = 'opened') = (generation = 1)) - count(*) + 1 as openings,
    coalesce(max(generation) filter (where type = 'closed'), 0) as closing, count(*) filter (where type = 'closed') as closings
  from recoup.block_events group by block_id) e on e.block_id = b.id
where b.id is null or e.block_id is null or e.count <> b.generation or e.first <> 1 or e.last <> b.generation or e.openings <> 1
  or e.closings <> (b.closed_at is not null)::int or (b.closed_at is not null and e.closing <> e.last)
order by coalesce(b.id, e.block_id) limit $1`,
  },
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
