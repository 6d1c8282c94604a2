// upstream.select: the best upstream of a pool that is usable now is leased, or none.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { candidates, type Reach, shutSubjects, UNBLOCKED, usableCandidate } from './candidates.ts';
import { scopesOf, sharedBlocks, usable } from './usable.ts';

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

/** What a use moves on a block that lets it in: whoever read less than that counted trials before somebody else took one. */
const moves = (from: string) =>
  `(select coalesce(sum(b.uses + b.generation), 0) as moves from ${from} b where b.id = any (h.half_open)`;

/**
 * Guard: on, no block in scope keeps it out, a slot free. By priority, then whose turn it is: a selection moves its turn on by 1/weight
 * seconds, and one that was away or is new comes in at the clock, or two seconds behind the next one's turn where those run ahead of it, so
 * that it does not make up for what it missed.
 *
 * Candidates are walked lazily under the limit (see candidates.ts). One whose block's time is up comes in at the front and goes behind it, so that its
 * trial is one use in a round of its equals. Only one that the snapshot finds usable is locked, so that nobody's
 * transaction holds what it did not take. An upstream that somebody holds, or that has moved since the snapshot, is passed over: its
 * leases may be newer than what was counted. So is one under a half-open block of its group, provider or route that somebody holds, or
 * that has let another in since: trials there are counted across upstreams, and the row of one upstream does not guard that count.
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
pick as materialized (
  select c.*, u.tid, u.part, h.half_open, i.lease_id, i.holder, recoup.clock() as now, recoup.clock() + i.lease_ms * interval '1 millisecond' as until
  from input i
  cross join lateral (
    select u.*, false as rest, null::timestamptz as front from recoup.upstreams u where u.id = (select id from stuck)
    union all
    ${candidates(reach)}
    where not exists (select from stuck) offset 0) c
  cross join lateral (select ${sharedBlocks('c', scopesOf('i'))} as half_open offset 0) h
  cross join lateral (
    select u.ctid as tid, u.tableoid as part from recoup.upstreams u
    where u.id = c.id and u.turn_at = c.turn_at and u.generation = c.generation for no key update skip locked) u
  cross join lateral ${moves(`(
    select b.id, b.uses, b.generation from recoup.blocks b where b.id = any (h.half_open) for no key update skip locked)`)}) now_is
  where not exists (select from prior) and ${usableCandidate(reach, 'c')} and now_is.moves = ${moves('recoup.blocks')})
  limit 1),
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
won as (
  update recoup.upstreams u set turn_at = greatest(p.turn_at, p.now, coalesce(p.front, (
      select n.turn_at from recoup.upstreams n
      where n.pool = p.pool and n.priority = p.priority and n.status = 'on' and ${UNBLOCKED.replaceAll('u.', 'n.')} and n.tight_until is null and n.id <> p.id
      order by n.turn_at limit 1) - interval '2 seconds')) + interval '1 second' / p.weight, used_at = p.now, quota_until = null,
    tight_until = case when p.tight_until > p.now then p.tight_until end
  from pick p join leased using (id) where u.ctid = p.tid and u.tableoid = p.part
  returning u.id),
let_in as (
  update recoup.blocks b set uses = b.uses + 1 from pick p join leased using (id) where b.id = any (p.half_open)),
given as (select upstream_id, lease_until from prior where same union all select * from leased)
select json_build_array(json_build_object('ord', 1, 'outcome',
  case when exists (select from given) then 'selected' when exists (select from prior) then 'conflict' when exists (select from pick) or exists (select from stuck) then 'again' else 'none' end,
  'upstream', u.id, 'provider', u.provider, 'credential_ref', u.credential_ref, 'lease_until', g.lease_until))::text as answer
from (values (1)) one left join given g on true left join lateral (select * from recoup.upstreams where id = g.upstream_id offset 0) u on true`;

/** Of the first candidates of each range: it is smaller by a third, and almost always finds who is usable. */
export const selectUpstream = statement<typeof columns, SelectRow>('upstream.select', columns, selecting('near'));

/** Of all: said where it did not. */
export const selectFurther = statement<typeof columns, SelectRow>('upstream.selectFurther', columns, selecting('far'));
