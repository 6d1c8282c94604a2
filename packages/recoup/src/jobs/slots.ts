// The slot of an upstream that an attempt holds: kept for as long as the attempt runs, given back when it ends.

/** Its id, from the job and the attempt: whoever ends the attempt finds it, and nothing has to be stored. */
export const slotOf = (j: string, attempt = `${j}.attempt`) =>
  `'job:' || encode(sha256(convert_to(json_build_array(${j}.wallet_id, ${j}.id, ${attempt})::text, 'UTF8')), 'hex')`;

/** By an array, so that a plan from before there were any does not read them all. What somebody else holds is about to be given back by him, or lapses: nobody waits for it. */
const heldSlots = (from: string, where: string) => `
slots as materialized (
  select l.id from recoup.upstream_leases l
  where l.id = any (array(select ${slotOf('s')} from ${from} s where s.upstream_id is not null and ${where}))
  for update skip locked)`;

/** CTEs: the slots of the attempts of `from` that end go back. Nothing is said of how it went there. */
export const giveSlotsBack = (from: string, where: string) => `${heldSlots(from, where)},
slots_back as (delete from recoup.upstream_leases l where l.id = any (array(select id from slots)))`;

/** CTEs: the slots of the attempts of `seen` that go on are kept `until` then. One that lapsed may be another's since, and is not taken again. */
export const keepSlots = (until: string) => `${heldSlots('seen', 's.wins')},
slots_kept as (
  update recoup.upstream_leases l set lease_until = s.${until} from seen s
  where s.wins and s.upstream_id is not null and l.id = ${slotOf('s')} and l.id = any (array(select id from slots)) and l.lease_until > s.now)`;
