// What verify holds of payments.

export const paymentChecks = [
  {
    name: 'payments.entries',
    promise:
      'What a payment granted and what of it was taken back is what its entries say; with what expired no more than it granted.',
    sql: `
select p.granted_in as wallet, p.granted_seq as seq, null::text as job,
  'payment ' || p.id || case
    when e.amount is distinct from p.granted then ' says it granted ' || p.granted || ', its entry ' || coalesce(e.amount::text, 'is not there')
    when coalesce(x.taken, 0) <> p.taken then ' says ' || p.taken || ' is taken back, its entries ' || coalesce(x.taken, 0)
    else ' lost more than it granted' end as detail
from recoup.payments p
left join recoup.entries e on e.wallet_id = p.granted_in and e.seq = p.granted_seq and e.type = 'grant'
left join lateral (
  select -sum(b.amount) filter (where b.type in ('clawback', 'restore')) as taken, -sum(b.amount) as lost
  from recoup.grant_entries g join recoup.entries b on b.wallet_id = g.wallet_id and b.seq = g.seq
  where g.wallet_id = p.granted_in and g.of_seq = p.granted_seq) x on true
where p.granted > 0 and (e.amount is distinct from p.granted or coalesce(x.taken, 0) <> p.taken or coalesce(x.lost, 0) > p.granted)
order by 1, 2 limit $1`,
  },
] as const;
