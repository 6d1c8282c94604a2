// block.close and block.lapse: a person, a probe, a snapshot or a new credential ends a block; or it stood open unused for long.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { blockedUntil } from './usable.ts';

const columns = {
  block_id: 'bigint',
  generation: 'int',
  closed_as: 'text',
  actor: 'text',
  reason: 'text',
} as const;

/**
 * Guard: open, and of the generation that was seen, where one is given: who decided on older news closes nothing (`duplicate`); what only
 * a person ends is ended by nothing else (`manual_block`). The upstream's row is held first, as everywhere, and forgets the block's end where it was its own.
 */
const closing = (lock: string) => `
found as materialized (
  select i.*, b.subject_type, b.subject_id, b.scope, b.policy, row_number() over (partition by i.block_id order by i.ord) as twin
  from input i
  left join lateral (select subject_type, subject_id, scope, policy from recoup.blocks where id = i.block_id) b on true),
held as materialized (
  select f.*, u.*, (select ctid from recoup.upstreams x where x.id = f.subject_id) is distinct from u.u_tid as moved
  from (select * from found order by subject_id, ord) f
  left join lateral (
    select ctid as u_tid, tableoid as u_part from recoup.upstreams
    where f.subject_type = 'upstream' and id = f.subject_id for no key update ${lock}) u on true),
seen as materialized (
  select h.*, b.*, case
    when subject_type is null then 'no_block'
    when subject_type = 'upstream' and u_tid is null then 'busy'
    when b_tid is null then 'busy'
    when twin > 1 or (subject_type = 'upstream' and moved) then 'again'
    when closed_at is not null or (generation is not null and generation <> b_generation) then 'duplicate'
    when b_policy = 'manual' and closed_as not in ('operator', 'credential') then 'manual_block'
    else 'closed' end as verdict
  from held h
  left join lateral (
    select ctid as b_tid, tableoid as b_part, generation as b_generation, policy as b_policy, closed_at from recoup.blocks where id = h.block_id for no key update ${lock}) b on true),
won as (
  update recoup.blocks b set closed_at = recoup.clock(), closed_as = s.closed_as, generation = b.generation + 1
  from seen s where b.ctid = s.b_tid and b.tableoid = s.b_part and s.verdict = 'closed'
  returning s.ord, b.*),
told as (
  insert into recoup.block_events (block_id, generation, type, at, until, step, evidence_at, actor, reason)
  select w.id, w.generation, 'closed', w.closed_at, w.until, w.step, w.evidence_at, s.actor, coalesce(s.reason, s.closed_as) from won w join seen s using (ord)),
freed as (
  update recoup.upstreams u set generation = u.generation + 1, blocked_until = ${blockedUntil('u', 'select id from won')}
  from (select distinct on (u_tid, u_part) s.u_tid, s.u_part from seen s join won using (ord) where s.scope = '') s
  where u.ctid = s.u_tid and u.tableoid = s.u_part)${answerEach(
    'seen s',
    `case when verdict = 'closed' and not exists (select from won w where w.ord = s.ord) then 'again' else verdict end`,
    { policy: 'coalesce(b_policy, policy)' },
  )}`;

export interface ClosedRow extends RawAnswer {
  policy: string;
}

export const closeBlock = statement<typeof columns, ClosedRow>('block.close', columns, closing, { holds: 'block_id' });

/** What a sweep says. A row that somebody holds is passed over: the next sweep finds it again. */
export const lapseBlock = statement<typeof columns, ClosedRow>('block.lapse', columns, closing, {
  holds: 'block_id',
  waits: false,
});
