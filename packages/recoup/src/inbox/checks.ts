// What verify holds of the inbox.

export const inboxChecks = [
  {
    name: 'inbox.notes',
    promise:
      'Notes of an item are numbered 1, 2, 3 … without a gap, their instants never fall, and the item is about something.',
    sql: `
select null::text as wallet, null::bigint as seq, null::text as job,
  n.item || case when b.id is null then ' has notes and is about no block that a person ends'
    when n.count <> n.last or n.first <> 1 then ' has ' || n.count || ' notes, ' || n.first || ' to ' || n.last
    else ' has a note that is older than the one before' end as detail
from (
  select item, count(*) as count, min(number) as first, max(number) as last, bool_or(falls) as falls
  from (select *, at < lag(at) over (partition by item order by number) as falls from recoup.inbox_notes) n group by item) n
left join recoup.blocks b on b.policy = 'manual' and 'block:' || b.id = n.item
where b.id is null or n.count <> n.last or n.first <> 1 or n.falls
order by n.item limit $1`,
  },
] as const;
