// upstream.select: the best upstream of a pool that is usable now is leased, or none.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { type Reach, shutSubjects } from './candidates.ts';
import { chosenOf, turnOf } from './choose.ts';
import { scopesOf, usable } from './usable.ts';

export interface SelectRow extends RawAnswer {
  upstream: string | null;
  provider: string | null;
  credential_ref: string | null;
  lease_until: string | null;
}

const columns = {
  pool: 'text',
  model: 'text',
  capability: 'text',
  lease_id: 'text',
  lease_ms: 'bigint',
  holder: 'text',
  sticky: 'text',
  sticky_ms: 'bigint',
} as const;

/**
 * Guard: on, no block in scope keeps it out, a slot free. By priority, then whose turn it is: a selection moves its turn on by 1/weight
 * seconds, and one that was away or is new comes in at the clock, or two seconds behind the next one's turn where those run ahead of it, so
 * that it does not make up for what it missed.
 *
 * A sticky key has the upstream that it had last for as long as the snapshot finds that one usable, whatever its priority; where it
 * cannot be taken in this moment, nobody else is (`again`). Otherwise the key moves to the one that is picked. Of two first uses at once
 * one decides, and the other looks again. Stored, not derived from a hash of key and upstream: that would have to look at all of a pool.
 *
 * A lease of that id which is still out is the answer to a repeat; one that lapsed is taken anew, as if it had never been, since its slot
 * may be another's. One in another pool is no repeat (`conflict`). Two that come with one id at once meet at its key, and the later one looks again. `none` therefore means "look again, or explain", never "all are out".
 */
const selecting = (reach: Reach) => () =>
  `
prior as materialized (
  select l.*, i.pool = (select pool from recoup.upstreams u where u.id = l.upstream_id) as same from input i
  cross join lateral (select upstream_id, lease_until from recoup.upstream_leases where id = i.lease_id and lease_until > recoup.clock()) l),
kept as materialized (
  select a.* from input i
  cross join lateral (
    select upstream_id, until from recoup.affinities where pool = i.pool and key = i.sticky and until > recoup.clock()) a),
${shutSubjects(reach).trim()}
stuck as materialized (
  select u.id from input i
  cross join kept k
  join recoup.upstreams u on u.id = k.upstream_id
  where u.status = 'on' and (u.blocked_until is null or u.blocked_until <= recoup.clock()) and ${usable('u', scopesOf('i'))}),
${chosenOf('input', reach, {
  first: `select u.*, false as rest, null::timestamptz as front from recoup.upstreams u where u.id = (select id from stuck)`,
  unless: 'exists (select from stuck)',
  where: 'not exists (select from prior)',
})},
pick as materialized (
  select c.*, i.lease_id, i.holder, c.now + i.lease_ms * interval '1 millisecond' as until from input i cross join chosen c),
fresh as materialized (
  -- Moved on only now and then: not every use is worth a write.
  select from input i cross join pick p join kept k on k.upstream_id = p.id
  where k.until > p.now + i.sticky_ms * 0.75 * interval '1 millisecond'),
bound as (
  insert into recoup.affinities (pool, key, upstream_id, until)
  select i.pool, i.sticky, p.id, p.now + i.sticky_ms * interval '1 millisecond' from input i cross join pick p
  where i.sticky is not null and not exists (select from fresh)
  on conflict (pool, key) do update set upstream_id = excluded.upstream_id, until = excluded.until
  where recoup.affinities.upstream_id in (excluded.upstream_id, (select upstream_id from kept)) or recoup.affinities.until <= recoup.clock()
  returning upstream_id),
leased as (
  insert into recoup.upstream_leases as l (id, upstream_id, quota_group, provider, route, scopes, credential_at, holder, leased_at, lease_until)
  select p.lease_id, p.id, p.quota_group, p.provider, p.route, ${scopesOf('i')}, p.credential_at, p.holder, p.now, p.until from input i cross join pick p
  where i.sticky is null or exists (select from fresh) or exists (select from bound)
  on conflict (id) do update set upstream_id = excluded.upstream_id, quota_group = excluded.quota_group, provider = excluded.provider,
    route = excluded.route, scopes = excluded.scopes, credential_at = excluded.credential_at, holder = excluded.holder, leased_at = excluded.leased_at, lease_until = excluded.lease_until
    where l.lease_until <= recoup.clock()
  returning l.upstream_id as id, l.lease_until),
${turnOf('pick p join leased using (id)')},
given as (select upstream_id, lease_until from prior where same union all select * from leased)
select json_build_array(json_build_object('ord', 1, 'outcome',
  case when exists (select from given) then 'selected' when exists (select from prior) then 'conflict' when exists (select from pick) or exists (select from stuck) then 'again' else 'none' end,
  'upstream', u.id, 'provider', u.provider, 'credential_ref', u.credential_ref, 'lease_until', g.lease_until))::text as answer
from (values (1)) one left join given g on true left join lateral (select * from recoup.upstreams where id = g.upstream_id offset 0) u on true`;

/** Of the first candidates of each range: it is smaller by a third, and almost always finds who is usable. */
export const selectUpstream = statement<typeof columns, SelectRow>('upstream.select', columns, selecting('near'));

/** Of all: said where it did not. */
export const selectFurther = statement<typeof columns, SelectRow>('upstream.selectFurther', columns, selecting('far'));
