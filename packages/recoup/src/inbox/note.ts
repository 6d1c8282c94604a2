// inbox.take, inbox.snooze and inbox.note: who cares about an item, until when it is put off, what was remarked. Notes are only added.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';

export interface NotingRow extends RawAnswer {
  number: number | null;
  owner: string | null;
}

const columns = {
  item: 'text',
  block_id: 'bigint',
  actor: 'text',
  force: 'boolean',
  until: 'timestamptz',
  for_ms: 'bigint',
  note: 'text',
  key: 'text',
} as const;

/** What the notes of the item `i` come to, newest first: whose it is, until when it is put off, and by which note. */
export const stateOf = (item: string) => `
    (select n.actor from recoup.inbox_notes n where n.item = ${item} and n.type = 'taken' order by n.number desc limit 1) as owner,
    (select coalesce(max(n.number), 0) from recoup.inbox_notes n where n.item = ${item}) as last`;

/** The last time that an item was put off. */
export const lastSnooze = (item: string) => `
    select n.until as snoozed_until, n.at as snoozed_at from recoup.inbox_notes n where n.item = ${item} and n.type = 'snoozed' order by n.number desc limit 1`;

/**
 * Guard: the item is open. Notes of an item are numbered without a gap: of two at once one gets the number, and the other looks again, so
 * that each was decided in the light of all before it. No row but that of the note is held: notes never stand in the way of reports.
 */
const noting = (type: 'taken' | 'snoozed' | 'noted', verdict: string) => () =>
  `
held as materialized (
  select i.*, recoup.clock() as now, coalesce(i.until, recoup.clock() + i.for_ms * interval '1 millisecond') as until_at,
    b.id is not null as open, n.*, s.*, row_number() over (partition by i.item order by i.ord) as twin,
    exists (select from recoup.inbox_notes n where n.item = i.item and n.key = i.key) as known
  from input i
  left join recoup.blocks b on b.id = i.block_id and b.closed_at is null and b.policy = 'manual'
  cross join lateral (select ${stateOf('i.item')}) n
  left join lateral (${lastSnooze('i.item')}) s on true),
seen as materialized (
  select h.*, case when not open then 'no_item' when twin > 1 then 'again' when known then 'duplicate' ${verdict} end as verdict from held h),
said as (
  insert into recoup.inbox_notes (item, number, type, at, actor, until, note, key)
  select item, last + 1, '${type}', greatest(now, (select n.at from recoup.inbox_notes n where n.item = seen.item and n.number = seen.last)), actor, ${type === 'snoozed' ? 'until_at' : 'null'}, note, key from seen
  where verdict not in ('no_item', 'again', 'duplicate', 'held')
  on conflict do nothing
  returning item, number)${answerEach(
    'seen s left join said n using (item)',
    `case when verdict not in ('no_item', 'again', 'duplicate', 'held') and n.number is null then 'again' else verdict end`,
    { number: 'n.number', owner: type === 'taken' ? `case when verdict = 'taken' then actor else owner end` : 'owner' },
  )}`;

export const takeItem = statement<typeof columns, NotingRow>(
  'inbox.take',
  columns,
  noting(
    'taken',
    `when owner = actor then 'duplicate' when owner is not null and not coalesce(force, false) then 'held' else 'taken'`,
  ),
  { holds: 'item' },
);

export const snoozeItem = statement<typeof columns, NotingRow>(
  'inbox.snooze',
  columns,
  noting(
    'snoozed',
    `when until_at is not distinct from snoozed_until or (until_at is null and coalesce(snoozed_until, now) <= now) then 'duplicate'
      when until_at is null then 'woken' else 'snoozed'`,
  ),
  { holds: 'item' },
);

export const noteItem = statement<typeof columns, NotingRow>('inbox.note', columns, noting('noted', `else 'noted'`), {
  holds: 'item',
});
