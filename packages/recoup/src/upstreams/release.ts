// upstream.release and upstream.extend: a slot is given back, or kept longer.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';

const releaseColumns = { lease_id: 'text' } as const;

/** Guard: the lease is there. One that lapsed is gone with the sweep; giving it back changes nothing. */
export const releaseUpstream = statement<typeof releaseColumns, RawAnswer>(
  'upstream.release',
  releaseColumns,
  () => `
gone as (
  -- By an array, here and below, so that a plan from before there were any does not read them all.
  delete from recoup.upstream_leases l where l.id = any (array(select lease_id from input)) returning l.id),
seen as (
  select i.*, g.id is not null and row_number() over (partition by i.lease_id order by i.ord) = 1 as wins
  from input i full join gone g on g.id = i.lease_id)${answerEach('seen', `case when wins then 'released' else 'duplicate' end`, {})}`,
  { holds: 'lease_id' },
);

const extendColumns = { lease_id: 'text', lease_ms: 'bigint' } as const;

export interface ExtendRow extends RawAnswer {
  lease_until: string | null;
}

/** Guard: the lease is there and its time is not up: the slot may be another's since. */
export const extendUpstream = statement<typeof extendColumns, ExtendRow>(
  'upstream.extend',
  extendColumns,
  () => `
until as materialized (
  select lease_id, max(recoup.clock() + lease_ms * interval '1 millisecond') as lease_until from input group by lease_id),
kept as (
  update recoup.upstream_leases l set lease_until = greatest(l.lease_until, u.lease_until) from until u
  where l.id = u.lease_id and l.id = any (array(select lease_id from input)) and l.lease_until > recoup.clock()
  returning l.id, l.lease_until),
seen as (select i.*, k.id, k.lease_until from input i full join kept k on k.id = i.lease_id)${answerEach(
    'seen',
    `case when id is null then 'stale' else 'extended' end`,
    { lease_until: 'lease_until' },
  )}`,
  { holds: 'lease_id' },
);
