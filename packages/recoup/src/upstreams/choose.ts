// Which upstream of a pool is chosen, and whose turn is next: the part that selections and claims of jobs share.

import { scopesOf, sharedBlocks, usable } from './usable.ts';

/** What a use moves on a block that lets it in: whoever read less than that counted trials before somebody else took one. */
const moves = (from: string) =>
  `(select coalesce(sum(b.uses + b.generation), 0) as moves from ${from} b where b.id = any (h.half_open)`;

/** What nothing of its own keeps out. */
const UNBLOCKED = 'u.blocked_until is null and u.quota_until is null';

/** So many candidates of a range are looked at before the rest of it is. */
const FIRST = 50;

/** A range of candidates in order: the first ones apart, because only under a limit that it knows does the planner walk the index and not sort all of a large pool. */
const inOrder = (which: string, order: string) => {
  const range = `select u.* from recoup.upstreams u where u.pool = i.pool and u.priority = p and u.status = 'on' and ${which} order by ${order}`;
  return `(${range} limit ${FIRST}) union all (${range} offset ${FIRST})`;
};

/**
 * Candidates come from index ranges per priority, walked lazily under the limit: those whose block's time is up, which get their trial
 * first, then those that have room again in a limit of their own or at their provider, then those without any of that, and last those of
 * which the provider says that little is left. Only one that the snapshot finds usable is locked, so that nobody's
 * transaction holds what it did not take. An upstream that somebody holds, or that has moved since the snapshot, is passed over: its
 * leases may be newer than what was counted. So is one under a half-open block of its group, provider or route that somebody holds, or
 * that has let another in since: trials there are counted across upstreams, and the row of one upstream does not guard that count.
 *
 * CTE `chosen`: the first that is usable, held, for the one row of `from` (with pool, model and capability), or none. `first`: rows that come
 * before all candidates, and alone `unless` they are none.
 */
export const chosenOf = (
  from: string,
  { first, unless, where }: { first?: string; unless?: string; where?: string } = {},
) => `chosen as materialized (
  select c.*, u.tid, u.part, h.half_open, recoup.clock() as now
  from ${from} i
  cross join lateral (
    ${
      first === undefined
        ? ''
        : `${first}
    union all
    `
    }select c.* from generate_series(0, 9) p
    cross join lateral (
      ${inOrder('u.blocked_until is not null and u.blocked_until <= recoup.clock() and (u.quota_until is null or u.quota_until <= recoup.clock())', 'u.blocked_until')}
      union all
      ${inOrder('u.blocked_until is null and u.quota_until is not null and u.quota_until <= recoup.clock()', 'u.quota_until')}
      union all
      ${inOrder(`${UNBLOCKED} and u.tight_until is not null and u.tight_until <= recoup.clock()`, 'u.tight_until')}
      union all
      ${inOrder(`${UNBLOCKED} and u.tight_until is null`, 'u.turn_at')}
      union all
      ${inOrder(`${UNBLOCKED} and u.tight_until is not null and u.tight_until > recoup.clock()`, 'u.tight_until')}
      offset 0) c${
        unless === undefined
          ? ''
          : `
    where not ${unless}`
      }) c
  cross join lateral (select ${sharedBlocks('c', scopesOf('i'))} as half_open offset 0) h
  cross join lateral (
    select u.ctid as tid, u.tableoid as part from recoup.upstreams u
    where u.id = c.id and u.turn_at = c.turn_at and u.generation = c.generation for no key update skip locked) u
  cross join lateral ${moves(`(
    select b.id, b.uses, b.generation from recoup.blocks b where b.id = any (h.half_open) for no key update skip locked)`)}) now_is
  where ${where === undefined ? '' : `${where} and `}${usable('c', scopesOf('i'))} and now_is.moves = ${moves('recoup.blocks')})
  limit 1)`;

/** Of the one that was chosen and whose slot is out (`p`, a row of `chosen`): its turn moves on, and the half-open blocks that let it in count one use more. */
export const turnOf = (from: string) => `turned as (
  update recoup.upstreams u set turn_at = greatest(p.turn_at, p.now, (
      select n.turn_at from recoup.upstreams n
      where n.pool = p.pool and n.priority = p.priority and n.status = 'on' and ${UNBLOCKED.replaceAll('u.', 'n.')} and n.tight_until is null and n.id <> p.id
      order by n.turn_at limit 1) - interval '2 seconds') + interval '1 second' / p.weight, used_at = p.now, quota_until = null,
    tight_until = case when p.tight_until > p.now then p.tight_until end
  from ${from} where u.ctid = p.tid and u.tableoid = p.part
  returning u.id),
let_in as (
  update recoup.blocks b set uses = b.uses + 1 from ${from} where b.id = any (p.half_open))`;
