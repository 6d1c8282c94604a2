// upstream.select: the best upstream of a pool that is usable now is leased, or none.

import type { RawAnswer } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
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
} as const;

/** What a use moves on a block that lets it in: whoever read less than that counted trials before somebody else took one. */
const moves = (from: string) =>
  `(select coalesce(sum(b.uses + b.generation), 0) as moves from ${from} b where b.id = any (h.half_open)`;

/**
 * Guard: on, no block in scope keeps it out, a slot free. By priority, then whose turn it is: a selection moves its turn on by 1/weight
 * seconds, and one that was away comes in at the clock, so that it does not make up for what it missed.
 *
 * Candidates come from two index ranges per priority, walked lazily under the limit: those whose block's time is up, which get their
 * trial first, then those without a block of their own. Only one that the snapshot finds usable is locked, so that nobody's
 * transaction holds what it did not take. An upstream that somebody holds, or that has moved since the snapshot, is passed over: its
 * leases may be newer than what was counted. So is one under a half-open block of its group, provider or route that somebody holds, or
 * that has let another in since: trials there are counted across upstreams, and the row of one upstream does not guard that count.
 *
 * A lease of that id which is still out is the answer to a repeat; one that lapsed is taken anew, as if it had never been, since its slot
 * may be another's. Two that come with one id at once meet at its key, and the later one looks again. `none` therefore means "look again, or explain", never "all are out".
 */
export const selectUpstream = statement<typeof columns, SelectRow>(
  'upstream.select',
  columns,
  () => `
prior as materialized (
  select l.* from input i
  cross join lateral (select upstream_id, lease_until from recoup.upstream_leases where id = i.lease_id and lease_until > recoup.clock()) l),
pick as materialized (
  select c.*, u.tid, u.part, h.half_open, i.lease_id, i.holder, recoup.clock() as now, recoup.clock() + i.lease_ms * interval '1 millisecond' as until
  from input i
  cross join lateral (
    select c.* from generate_series(0, 9) p
    cross join lateral (
      (select u.* from recoup.upstreams u
       where u.pool = i.pool and u.priority = p and u.status = 'on' and u.blocked_until is not null and u.blocked_until <= recoup.clock()
       order by u.blocked_until)
      union all
      (select u.* from recoup.upstreams u
       where u.pool = i.pool and u.priority = p and u.status = 'on' and u.blocked_until is null
       order by u.turn_at)) c) c
  cross join lateral (select ${sharedBlocks('c', scopesOf('i'))} as half_open offset 0) h
  cross join lateral (
    select u.ctid as tid, u.tableoid as part from recoup.upstreams u
    where u.id = c.id and u.turn_at = c.turn_at and u.generation = c.generation for no key update skip locked) u
  cross join lateral ${moves(`(
    select b.id, b.uses, b.generation from recoup.blocks b where b.id = any (h.half_open) for no key update skip locked)`)}) now_is
  where not exists (select from prior) and ${usable('c', scopesOf('i'))} and now_is.moves = ${moves('recoup.blocks')})
  limit 1),
leased as (
  insert into recoup.upstream_leases as l (id, upstream_id, quota_group, provider, route, holder, leased_at, lease_until)
  select lease_id, id, quota_group, provider, route, holder, now, until from pick
  on conflict (id) do update set upstream_id = excluded.upstream_id, quota_group = excluded.quota_group, provider = excluded.provider,
    route = excluded.route, holder = excluded.holder, leased_at = excluded.leased_at, lease_until = excluded.lease_until
    where l.lease_until <= recoup.clock()
  returning l.upstream_id as id, l.lease_until),
won as (
  update recoup.upstreams u set turn_at = greatest(p.turn_at, p.now) + interval '1 second' / p.weight, used_at = p.now
  from pick p join leased using (id) where u.ctid = p.tid and u.tableoid = p.part
  returning u.id),
let_in as (
  update recoup.blocks b set uses = b.uses + 1 from pick p join leased using (id) where b.id = any (p.half_open)),
given as (select * from prior union all select * from leased)
select json_build_array(json_build_object('ord', 1, 'outcome',
  case when exists (select from given) then 'selected' when exists (select from pick) then 'again' else 'none' end,
  'upstream', u.id, 'provider', u.provider, 'credential_ref', u.credential_ref, 'lease_until', g.lease_until))::text as answer
from (values (1)) one left join given g on true left join lateral (select * from recoup.upstreams where id = g.upstream_id) u on true`,
);
