// inbox.list: what needs a person now, read from the tables that say so, with what it costs and what was remarked.

import { statement } from '../db/statement.ts';
import { subjectsOf, usable } from '../upstreams/usable.ts';
import { lastSnooze, stateOf } from './note.ts';

export interface NoteRow {
  number: number;
  type: 'taken' | 'snoozed' | 'noted';
  at: string;
  actor: string;
  until: string | null;
  note: string | null;
}

export interface ItemRow {
  item: string;
  since: string;
  subject: string;
  scope: string;
  kind: string;
  reason: string | null;
  nextStep: string | null;
  block: number;
  generation: number;
  contradictedAt: string | null;
  owner: string | null;
  snoozedUntil: string | null;
  pools: { pool: string; usable: number; all: number }[];
  notes: NoteRow[];
}

const columns = {
  pool: 'text',
  owner: 'text',
  nobodys: 'boolean',
  snoozed: 'boolean',
  after: 'bigint',
  count: 'int',
} as const;

/** The upstreams of a pool that no block of their own keeps out for long, an index each. */
const maybeUsable = (p: string) =>
  [
    'blocked_until is null and quota_until is null and tight_until is null',
    'blocked_until is null and quota_until is null and tight_until is not null',
  ]
    .concat(
      'blocked_until is null and quota_until is not null',
      'blocked_until is not null and blocked_until <= recoup.clock()',
    )
    .map((which) => `select * from recoup.upstreams where pool = ${p}.pool and status = 'on' and ${which}`)
    .join(' union all\n      ');

/** Of items about what is shared, the pools: one pass over the upstreams for all of a page, and none where it has no such item. */
const poolsBy = (type: string) => `
  select f.id, f.scope, u.pool from found f join recoup.upstreams u on u.${type} = f.subject_id
  where f.subject_type = '${type}' and u.status <> 'retired'`;

/**
 * Open manual blocks, oldest first. One that is put off is hidden until then, or until something new speaks against it. What a pool has
 * left is counted once per pool and scope, by the predicate of selection, without those that are out for long anyway. Items are walked by their
 * index from where the page begins; how many a pool has takes one pass over the upstreams, whatever the page.
 */
export const listInbox = statement<typeof columns, ItemRow>(
  'inbox.list',
  columns,
  () => `
of_pool as materialized (
  select distinct subject.type, subject.id from input i
  join recoup.upstreams u on u.pool = i.pool and u.status <> 'retired'
  cross join lateral ${subjectsOf('u')}
  where subject.id is not null),
found as materialized (
  select b.*, i.pool as of_pool from input i
  cross join lateral (
    select b.*, 'block:' || b.id as item, n.owner, h.snoozed_until
    from recoup.blocks b
    cross join lateral (select ${stateOf(`'block:' || b.id`)}) n
    left join lateral (
      select s.snoozed_until from (${lastSnooze(`'block:' || b.id`)}) s
      where s.snoozed_until > recoup.clock() and not coalesce(b.contradicted_at > s.snoozed_at, false)) h on true
    where b.closed_at is null and b.policy = 'manual' and b.id > coalesce(i.after, 0)
      and (i.owner is null or n.owner = i.owner) and (not coalesce(i.nobodys, false) or n.owner is null)
      and (h.snoozed_until is not null) = coalesce(i.snoozed, false)
      and (i.pool is null or (b.subject_type, b.subject_id) in (select type, id from of_pool))
    order by b.id limit i.count) b),
pools as materialized (
  select f.id, f.scope, u.pool from found f
  cross join lateral (select pool from recoup.upstreams where id = f.subject_id and status <> 'retired' offset 0) u
  where f.subject_type = 'upstream'
  union${['quota_group', 'provider', 'route'].map(poolsBy).join(' union')}),
sizes as materialized (
  select u.pool, count(*) as "all" from (select distinct pool from pools) p join recoup.upstreams u on u.pool = p.pool
  where u.status <> 'retired' group by u.pool),
counted as materialized (
  select p.pool, p.scope, s."all", (
    select count(*) from (
      ${maybeUsable('p')}) u where ${usable('u', `array['', p.scope]`)}) as usable
  from (select distinct pool, scope from pools) p join sizes s on s.pool = p.pool)
select coalesce(json_agg(json_build_object('item', item, 'since', opened_at, 'subject', subject_type || ':' || subject_id, 'scope', scope, 'kind', kind,
  'reason', reason, 'nextStep', next_step, 'block', id, 'generation', generation, 'contradictedAt', contradicted_at, 'owner', owner,
  'snoozedUntil', snoozed_until,
  'pools', (select coalesce(json_agg(json_build_object('pool', c.pool, 'usable', c.usable, 'all', c."all") order by c.pool), '[]')
    from pools p join counted c on c.pool = p.pool and c.scope = p.scope where p.id = f.id),
  'notes', (select coalesce(json_agg(json_build_object('number', n.number, 'type', n.type, 'at', n.at, 'actor', n.actor, 'until', n.until, 'note', n.note)
    order by n.number), '[]') from recoup.inbox_notes n where n.item = f.item)) order by id), '[]')::text as answer
from found f`,
);
