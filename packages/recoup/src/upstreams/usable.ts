// Whether an upstream may be used now: the one predicate of selection, explanation, health and lists, check by check.

import { usedUp } from '../windows/rules.ts';
import { stillGated } from './gates.ts';

/** What an upstream row `u` shares with others. */
const sharedOf = (u: string) =>
  `(values ('quota_group', ${u}.quota_group), ('provider', ${u}.provider), ('route', ${u}.route)) subject (type, id)`;

/** The subjects of an upstream row `u`: a block on any of them concerns it. */
export const subjectsOf = (u: string, id = 'id') =>
  `(values ('upstream', ${u}.${id}), ('quota_group', ${u}.quota_group), ('provider', ${u}.provider), ('route', ${u}.route)) subject (type, id)`;

/**
 * Leases of a block's subject and scope that were taken since it came due and are still out: the trials under way, counted as far as it lets in.
 * The offset keeps the planner from reading all leases that are out: before the first statistics it takes them for few.
 */
const trialsOut = (b: string) => {
  const since = (column: string) => `(
      select count(*) from (
        select from (
          select l.lease_until, l.scopes from recoup.upstream_leases l where l.${column} = ${b}.subject_id and l.leased_at >= ${b}.until offset 0) l
        where l.lease_until > recoup.clock() and ${b}.scope = any (l.scopes) limit ${b}.trials) l)`;
  return `case ${b}.subject_type when 'upstream' then ${since('upstream_id')} when 'quota_group' then ${since('quota_group')}
      when 'provider' then ${since('provider')} else ${since('route')} end`;
};

/** Whether the open block `b` keeps out: `blocked`, `gated`, `trial`, or null. */
export const checkOf = (b: string) => `case when ${b}.until is null or ${b}.until > recoup.clock() then 'blocked'
    when ${stillGated(b)} then 'gated'
    when ${trialsOut(b)} >= ${b}.trials then 'trial' end`;

/**
 * The open blocks on the upstream `u` in the scopes (an array; the empty scope is everything), each with `check`: `blocked` until
 * its time is up or a person acts, then `gated` while a probe is to answer first, then `trial` while as many uses are out as it lets in,
 * then null: it keeps nobody out.
 * The offset keeps the planner from looking at all blocks at once: subject by subject is right, whatever its statistics say.
 */
export const blocksOn = (u: string, scopes: string, subjects = subjectsOf(u)) => `
  select b.*, ${checkOf('b')} as "check"
  from ${subjects}
  cross join lateral (
    select * from recoup.blocks b
    where b.subject_type = subject.type and b.subject_id = subject.id and b.closed_at is null and b.scope = any (${scopes}) offset 0) b`;

/** Whether only a person ends the block `b`, said so that no plan looks for one subject's among all that wait for a person (the inbox's index). */
export const isManual = (b: string) => `${b}.policy || '' = 'manual'`;

/** The ids of those that it shares with others, as an array. */
export const sharedBlocks = (u: string, scopes: string) =>
  `array(select b.id from (${blocksOn(u, scopes, sharedOf(u))}) b)`;

/**
 * Slots of the upstream `u` that are taken. The offset keeps the planner from reading all leases that are out: before the first statistics
 * it takes them for few.
 */
export const slotsOut = (u: string) =>
  `(select count(*) from (
    select l.lease_until from recoup.upstream_leases l where l.upstream_id = ${u}.id offset 0) l where l.lease_until > recoup.clock())`;

/** The limits on the upstream `u` that are used up, in the scopes. */
export const quotasOn = (u: string, scopes: string) => usedUp(subjectsOf(u), scopes);

/** Whether `u` may be used now, apart from its status. */
export const usable = (u: string, scopes: string) => `
  (${u}.max_concurrency is null or ${slotsOut(u)} < ${u}.max_concurrency)
  and not exists (select from (${blocksOn(u, scopes)}) b where b."check" is not null)
  and not exists (select from (${quotasOn(u, scopes)}) q)`;

/** The scopes that a use has: everything, and its model and capabilities. */
export const scopesOf = (i: string) =>
  `array_remove(array['', 'model:' || ${i}.model, 'capability:' || ${i}.capability], null)`;

/** The latest end of the upstream `u`'s own open blocks of everything, without those that this statement closes (`closed`, a list of ids). */
export const blockedUntil = (u: string, closed: string) => `(
    select max(coalesce(b.until, 'infinity')) from recoup.blocks b
    where b.subject_type = 'upstream' and b.subject_id = ${u}.id and b.scope = '' and b.closed_at is null and b.id not in (${closed}))`;
