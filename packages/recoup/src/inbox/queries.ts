// inbox.list: what needs a person now, read from the tables that say so, with what it costs and what was remarked.

import { statement } from '../db/statement.ts';
import { usable } from '../upstreams/usable.ts';
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

const concerned = (
  b: string,
) => `case ${b}.subject_type when 'upstream' then u.id = ${b}.subject_id when 'quota_group' then u.quota_group = ${b}.subject_id
      when 'provider' then u.provider = ${b}.subject_id else u.route = ${b}.subject_id end`;

/**
 * Open manual blocks, oldest first. One that is put off is hidden until then, or until something new speaks against it. What a pool has
 * left is counted once per pool and scope, by the predicate of selection, without those that are out for long anyway.
 */
export const listInbox = statement<typeof columns, ItemRow>(
  'inbox.list',
  columns,
  () => `
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
      and (i.pool is null or exists (select from recoup.upstreams u where u.pool = i.pool and u.status <> 'retired' and ${concerned('b')}))
    order by b.id limit i.count) b),
pools as materialized (
  select distinct f.id, f.scope, u.pool from found f
  cross join lateral (select distinct u.pool from recoup.upstreams u where u.status <> 'retired' and ${concerned('f')}) u),
counted as materialized (
  select p.pool, p.scope, (select count(*) from recoup.upstreams u where u.pool = p.pool and u.status <> 'retired') as "all",
    (select count(*) from recoup.upstreams u
     where u.pool = p.pool and u.status = 'on' and (u.blocked_until is null or u.blocked_until <= recoup.clock()) and ${usable('u', `array['', p.scope]`)}) as usable
  from (select distinct pool, scope from pools) p)
select coalesce(json_agg(json_build_object('item', item, 'since', opened_at, 'subject', subject_type || ':' || subject_id, 'scope', scope, 'kind', kind,
  'reason', reason, 'nextStep', next_step, 'block', id, 'generation', generation, 'contradictedAt', contradicted_at, 'owner', owner,
  'snoozedUntil', snoozed_until,
  'pools', (select coalesce(json_agg(json_build_object('pool', c.pool, 'usable', c.usable, 'all', c."all") order by c.pool), '[]')
    from pools p join counted c on c.pool = p.pool and c.scope = p.scope where p.id = f.id),
  'notes', (select coalesce(json_agg(json_build_object('number', n.number, 'type', n.type, 'at', n.at, 'actor', n.actor, 'until', n.until, 'note', n.note)
    order by n.number), '[]') from recoup.inbox_notes n where n.item = f.item)) order by id), '[]')::text as answer
from found f`,
);
