// window.use: what a request used is booked on every limit that counts it, once per key.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, type Columns, type Statement, statement } from '../db/statement.ts';
import { bookedAt, isSecond, nextWindow, prunesAt, ROW, sinceOf } from './rules.ts';

export interface UseRow extends RawAnswer {
  /** The subject whose own limit of everything is used up with this, or is in another window now, where it is one of the type that was asked for. */
  turned: string | null;
}

const columns = { key: 'text', scopes: 'jsonb', used: 'jsonb' } as const;
const start = 'coalesce(next[1], window_start)';
const end = 'coalesce(next[2], window_end)';

/**
 * Guard: none of this key on the limit. It refuses nothing: the provider was used, whatever the limit says. A limit that is set meanwhile begins
 * with the next use.
 *
 * The limits are held in order, and say themselves in which window they are: what is booked waits for no snapshot, so that a use, a reset by hand
 * and the sweep come one after the other and each finds what the one before it left. Where the window is over, the use begins the next one. The
 * key's index decides who was first; only what it took is added up. The write is by key through ON CONFLICT, as with money: it finds the newest
 * version of the row. Inputs that meet a limit that somebody holds wait for it together, whoever they are of: it may be one that all share.
 *
 * `of`: what the input has besides, and `subjects`, SQL that gives its subjects (`subject.type`, `subject.id`) behind `from input i`. `told`: the
 * type of subject that is told of.
 */
export const useOf = <const C extends Columns>(of: C, subjects: string, told: string) =>
  statement(
    'window.use',
    { ...of, ...columns },
    (lock) => `
counted as materialized (
  select i.ord, i.key, l.id as limit_id, used.amount::bigint as amount
  from input i ${subjects}
  cross join lateral jsonb_each_text(i.used) used (unit, amount)
  cross join lateral (
    select l.id from recoup.limits l
    where l.subject_type = subject.type and l.subject_id = subject.id and l.unit = used.unit and l.ended_at is null and i.scopes ? l.scope offset 0) l),
held as materialized (
  select c.limit_id, l.*, l.id is null as busy, ${bookedAt('l')} as at
  from (select limit_id from counted group by limit_id order by limit_id) c
  left join lateral (select ${ROW} from recoup.limits where id = c.limit_id for no key update ${lock}) l on true),
turned as materialized (
  select h.*, case when window_end is null or window_end <= at then ${nextWindow('h', 'h.at')} end as next from held h),
seen as materialized (
  select c.ord, c.key, c.amount, t.limit_id, t.at, t.next, t.window_start, t.ended_at is null as counts, x.busy, case when t.busy then t.limit_id end as held_id,
    row_number() over (partition by c.limit_id, c.key, x.busy order by c.ord) as nth
  from counted c full join turned t on t.limit_id = c.limit_id
  full join (select c.ord, bool_or(h.busy) as busy from counted c full join held h on h.limit_id = c.limit_id group by c.ord) x on x.ord = c.ord),
booked as (
  insert into recoup.uses (limit_id, key, window_start, amount, booked_at)
  select limit_id, key, ${start}, amount, greatest(at, ${start}) from seen where not busy and counts and nth = 1 order by limit_id, key
  on conflict (limit_id, key) do nothing
  returning limit_id, key, amount),
moved as materialized (
  select t.*, b.added
  from turned t full join (select limit_id, sum(amount)::bigint as added from booked group by limit_id) b on b.limit_id = t.limit_id),
begun as (
  insert into recoup.windows (limit_id, window_start, window_end, total_before, begun_by, prunes_at)
  select limit_id, next[1], next[2], total, 'use', ${prunesAt('m', 'next[2]')} from moved m where added is not null and next is not null),
counted_on as (
  insert into recoup.limits (${ROW})
  select id, subject_type, subject_id, scope, unit, kind, zone, start_hour, weekday, day, length_ms, amount, total + added,
    case when next is null or kind = 'rolling' then total_before else total end, ${start}, ${end}, greatest(at, ${start}),
    case when not (${isSecond(start, end)}) then ${end} end, set_at, null
  from moved where added is not null
  on conflict (id) do update set total = excluded.total, total_before = excluded.total_before, window_start = excluded.window_start,
    window_end = excluded.window_end, last_at = excluded.last_at, rolls_at = excluded.rolls_at),
edged as materialized (
  select limit_id, subject_type, subject_id from moved m
  where added is not null and scope = '' and (total + added - case when next is null or kind = 'rolling' then ${sinceOf('m')} else total end >= amount
    or next is not null and not coalesce(${isSecond('window_start', 'window_end')}, false))),
done as (
  select i.ord, coalesce(bool_or(s.busy), false) as busy, coalesce(bool_or(b.key is not null and s.nth = 1), false) as booked,
    coalesce(bool_or(s.counts), false) as counts, min(f.subject_id collate "C") filter (where f.subject_type = '${told}') as turned_id, min(s.held_id) as held_id
  from input i full join seen s on s.ord = i.ord full join booked b on b.limit_id = s.limit_id and b.key = s.key
  full join edged f on f.limit_id = s.limit_id
  group by i.ord)${answerEach(
    'done',
    `case when busy then 'busy' when booked then 'booked' when counts then 'duplicate' else 'none' end`,
    { turned: 'turned_id', held: 'held_id' },
  )}`,
    { holds: 'limit_id' },
  ) as Statement<C & typeof columns, UseRow>;
