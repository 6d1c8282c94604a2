// Who may be picked of a pool, in the order of picking: index ranges per priority, walked only as far as somebody looks.

import { usedOf } from '../windows/rules.ts';
import { checkOf, scopesOf, usable } from './usable.ts';

/** What nothing of its own keeps out. */
export const UNBLOCKED = 'u.blocked_until is null and u.quota_until is null';
const DUE =
  'u.blocked_until is not null and u.blocked_until <= recoup.clock() and (u.quota_until is null or u.quota_until <= recoup.clock())';

/** So many candidates of a range are looked at one by one before the rest of it is. */
const FIRST = 50;

const range = (which: string, order: string) =>
  `select u.* from recoup.upstreams u where u.pool = i.pool and u.priority = p and u.status = 'on' and ${which} order by ${order}`;

/** How far candidates are walked: the first ones of each range, which are read without what only the rest needs; or all. */
export type Reach = 'near' | 'far';

/** A range in order: the first ones apart, because only under a limit that it knows does the planner walk the index and not sort all of a large pool. */
const inOrder = (reach: Reach, which: string, order: string) => {
  const near = `
      (select u.*, false as rest, null::timestamptz as front from (${range(which, order)} limit ${FIRST}) u)`;
  if (reach === 'near') return near;
  return `${near}
      union all
      (select u.*, true, null from (${range(which, order)} offset ${FIRST}) u)`;
};

const FREE = [`${UNBLOCKED} and u.tight_until is null`, 'u.turn_at'] as const;

const DUE_RANGE = range(DUE, 'u.blocked_until');
/** So many of those whose block's time is up may come before the others: where so many had their turn, the rest waits for theirs too. */
const FIRST_DUE = 100;
/** Not tried since its block's time was up, or its turn has come again. */
const TURN = `(u.used_at is null or u.used_at < u.blocked_until or u.turn_at <= coalesce(f.front, 'infinity'))`;

const SHARED = `(values ('quota_group'), ('provider'), ('route')) shared (type)`;

/**
 * CTE `shut`: what upstreams share with others and keeps all of them out in the scopes of the input, each worked out once: blocked, on trial in
 * others' hands, or out of a limit. Nobody reads it who finds one among the first candidates.
 */
export const shutSubjects = (reach: Reach) =>
  reach === 'near'
    ? ''
    : `
shut as materialized (
  select b.subject_type as type, b.subject_id as id from input i cross join ${SHARED}
  cross join lateral (
    select * from recoup.blocks b
    where b.subject_type = shared.type and b.closed_at is null and b.scope = any (${scopesOf('i')}) offset 0) b
  where ${checkOf('b')} is not null
  union all
  select l.subject_type, l.subject_id from input i cross join ${SHARED}
  cross join lateral (
    select * from recoup.limits l
    where l.subject_type = shared.type and l.ended_at is null and l.scope = any (${scopesOf('i')}) offset 0) l
  where ${usedOf('l')} >= l.amount),`;

/** Whether a candidate is one of the first, or shares nothing that is shut: a look-up, where `usable` asks ten tables. */
const open = (c: string) => `(not ${c}.rest or (
      (${c}.quota_group is null or ${c}.quota_group not in (select id from shut where type = 'quota_group'))
      and ${c}.provider not in (select id from shut where type = 'provider') and ${c}.route not in (select id from shut where type = 'route')))`;

/** Whether a candidate may be used now. */
export const usableCandidate = (reach: Reach, c: string) =>
  `${reach === 'near' ? '' : `${open(c)} and`} ${usable(c, scopesOf('i'))}`;

/**
 * The candidates of the input `i`, to be read behind `shut`. By priority: those whose block's time is up and who were not tried since, or whose
 * turn has come among their equals (`front`: that of who would be next else); those that have room again in a limit of their own or at their provider; those without any of
 * that; those of which the provider says that little is left; and last those whose block's time is up and who had their turn. So a trial
 * that proves nothing costs one use in a round, and where nobody else is left it is tried again.
 */
export const candidates = (reach: Reach) => `
    select c.* from generate_series(0, 9) p
    cross join lateral (
      select case when exists (${DUE_RANGE}) then (
        select n.turn_at from (${range(...FREE)} limit ${FIRST}) n where ${usable('n', scopesOf('i'))} limit 1) end as front offset 0) f
    cross join lateral (
      (select u.*, false as rest, f.front from (${DUE_RANGE} limit ${FIRST_DUE}) u where ${TURN} order by u.turn_at)
      union all
      ${inOrder(reach, 'u.blocked_until is null and u.quota_until is not null and u.quota_until <= recoup.clock()', 'u.quota_until')}
      union all
      ${inOrder(reach, `${UNBLOCKED} and u.tight_until is not null and u.tight_until <= recoup.clock()`, 'u.tight_until')}
      union all
      ${inOrder(reach, ...FREE)}
      union all
      ${inOrder(reach, `${UNBLOCKED} and u.tight_until is not null and u.tight_until > recoup.clock()`, 'u.tight_until')}
      union all
      (select u.*, true, f.front from (${DUE_RANGE} ${reach === 'near' ? `limit ${FIRST_DUE}` : 'offset 0'}) u)
      offset 0) c`;
