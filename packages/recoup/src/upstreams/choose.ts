// Which upstream of a pool is chosen, and whose turn is next: the part that selections and claims of jobs share.

import { candidates, type Reach, UNBLOCKED, usableCandidate } from './candidates.ts';
import { scopesOf, sharedBlocks } from './usable.ts';

/** What a use moves on a block that lets it in: whoever read less than that counted trials before somebody else took one. */
const moves = (from: string) =>
  `(select coalesce(sum(b.uses + b.generation), 0) as moves from ${from} b where b.id = any (h.half_open)`;

/**
 * Candidates are walked lazily under the limit (see candidates.ts). One whose block's time is up comes in at the front and goes behind it, so that its
 * trial is one use in a round of its equals. Only one that the snapshot finds usable is locked, so that nobody's
 * transaction holds what it did not take. An upstream that somebody holds, or that has moved since the snapshot, is passed over: its
 * leases may be newer than what was counted. So is one under a half-open block of its group, provider or route that somebody holds, or
 * that has let another in since: trials there are counted across upstreams, and the row of one upstream does not guard that count.
 *
 * CTE `chosen`: the first that is usable, held, for the one row of `from` (with pool, model and capability), or none; to be read behind
 * `shut`. `first`: rows that come before all candidates, and alone `unless` they are none. `count`: the first so many, see `seatsOf`.
 */
export const chosenOf = (
  from: string,
  reach: Reach,
  { first, unless, where, count = '1' }: { first?: string; unless?: string; where?: string; count?: string } = {},
) => `chosen as materialized (
  select c.*, u.tid, u.part, h.half_open, recoup.clock() as now
  from ${from} i
  cross join lateral (
    ${first === undefined ? '' : `${first}\n    union all`}
    ${candidates(reach)}
    ${unless === undefined ? '' : `where not ${unless}`} offset 0) c
  cross join lateral (select ${sharedBlocks('c', scopesOf('i'))} as half_open offset 0) h
  cross join lateral (
    select u.ctid as tid, u.tableoid as part from recoup.upstreams u
    where u.id = c.id and u.turn_at = c.turn_at and u.generation = c.generation for no key update skip locked) u
  cross join lateral ${moves(`(
    select b.id, b.uses, b.generation from recoup.blocks b where b.id = any (h.half_open) for no key update skip locked)`)}) now_is
  where ${where === undefined ? '' : `${where} and `}${usableCandidate(reach, 'c')} and now_is.moves = ${moves('recoup.blocks')})
  limit ${count})`;

/**
 * CTE `seats`: of several that were chosen those that may be used at once, in order (`place`). One can come up twice, as due and as due again; and
 * of those that one half-open block lets in, only the first was counted there.
 */
export const seatsOf = () => `numbered as (select c.*, row_number() over () as nth from chosen c),
seats as materialized (
  select c.*, row_number() over (order by nth) as place from numbered c
  where not exists (select from numbered e where e.nth < c.nth and (e.id = c.id or e.half_open && c.half_open)))`;

/** Of those that were chosen and whose slots are out (`p`, rows of `chosen`): their turns move on, and the half-open blocks that let one in count one use more. */
export const turnOf = (from: string) => `turned as (
  update recoup.upstreams u set turn_at = greatest(p.turn_at, p.now, coalesce(p.front, (
      select n.turn_at from recoup.upstreams n
      where n.pool = p.pool and n.priority = p.priority and n.status = 'on' and ${UNBLOCKED.replaceAll('u.', 'n.')} and n.tight_until is null and n.id <> p.id
      order by n.turn_at limit 1) - interval '2 seconds')) + interval '1 second' / p.weight, used_at = p.now, quota_until = null,
    tight_until = case when p.tight_until > p.now then p.tight_until end
  from ${from} where u.ctid = p.tid and u.tableoid = p.part
  returning u.id),
let_in as (
  update recoup.blocks b set uses = b.uses + 1 from ${from} where b.id = any (p.half_open))`;
