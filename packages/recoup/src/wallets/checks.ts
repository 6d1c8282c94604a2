// What verify holds of credit with terms.

export const creditChecks = [
  {
    name: 'credit.expired',
    promise:
      'Only credit whose time is past expires, each entry of it names its grant, and no grant loses more than it gave.',
    sql: `
select wallet_id as wallet, seq, null::text as job, detail from (
  select e.wallet_id, e.seq, case
      when g.of_seq is null then 'credit expired, of no grant'
      when t.expires_at is null or t.expires_at > e.created_at then 'it expired before its time: its grant is entry ' || g.of_seq
      when -sum(e.amount) over (partition by e.wallet_id, g.of_seq) > f.amount
        then 'of entry ' || g.of_seq || ' more expired than it gave'
    end as detail
  from recoup.entries e
  left join recoup.grant_entries g on g.wallet_id = e.wallet_id and g.seq = e.seq
  left join recoup.entries f on f.wallet_id = g.wallet_id and f.seq = g.of_seq and f.type in ('grant', 'restore')
  left join recoup.grants t on t.wallet_id = g.wallet_id and t.seq = g.of_seq
  where e.type = 'expire') x where detail is not null
union all
select g.wallet_id, g.seq, null, 'it is about entry ' || g.of_seq || ', and is no expiry'
from recoup.grant_entries g left join recoup.entries e on e.wallet_id = g.wallet_id and e.seq = g.seq
where coalesce(e.type, '') not in ('expire', 'clawback', 'restore')
order by 1, 2 limit $1`,
  },
  {
    name: 'credit.terms',
    promise: 'Terms belong to a grant, and a wallet with credit that expires knows when to look at it.',
    sql: `
select t.wallet_id as wallet, t.seq, null::text as job,
  case when e.type is distinct from 'grant' then 'terms of what is no grant' else 'it expires, and the wallet does not know' end as detail
from recoup.grants t
left join recoup.entries e on e.wallet_id = t.wallet_id and e.seq = t.seq
left join recoup.wallets w on w.id = t.wallet_id
where e.type is distinct from 'grant' or (t.expires_at is not null and w.next_expiry_at is null)
order by 1, 2 limit $1`,
  },
] as const;
