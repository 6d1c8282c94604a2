// What verify holds of probes.

export const probeChecks = [
  {
    name: 'probes.events',
    promise:
      'A yes or a no of a probe that counts is the event of its block that follows what was asked about, and says so.',
    sql: `
select null::text as wallet, null::bigint as seq, null::text as job,
  'probe ' || p.id || ' of block ' || p.block_id || ' was ' || p.outcome || ' in generation ' || p.generation || ', what followed is ' ||
    coalesce(e.type || coalesce(', ' || e.reason, ''), 'nothing') as detail
from recoup.probes p
left join recoup.block_events e on e.block_id = p.block_id and e.generation = p.generation + 1
where p.outcome in ('confirmed', 'denied') and (e.block_id is null or not coalesce(starts_with(e.reason, 'probe ' || p.id || ':'), false)
  or (e.type in ('trial', 'closed')) <> (p.outcome = 'confirmed'))
order by p.id limit $1`,
  },
] as const;
