// upstream.replaceCredential: another credential, or the same reference with another secret behind it; what was about the old one ends.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { settingsOf } from './register.ts';
import { blockedUntil, isManual } from './usable.ts';

export interface ReplaceRow extends RawAnswer {
  closed: number;
}

/** Kinds of blocks that a new credential ends. */
export const OF_CREDENTIAL = `('auth_expired', 'auth_revoked')`;

const columns = { upstream_id: 'text', credential_ref: 'text', actor: 'text', reason: 'text' } as const;

const OPEN = `b.subject_type = 'upstream' and b.closed_at is null and ${isManual('b')} and b.kind in ${OF_CREDENTIAL}`;

/**
 * Guard: another reference, or an open block about the credential; else there is nothing to say (`duplicate`). The secret behind a
 * reference may be replaced without the reference, so those blocks close either way. `credential_at` moves: a failure of a request
 * of before that arrives later does not open them again.
 */
export const replaceCredential = statement<typeof columns, ReplaceRow>(
  'upstream.replaceCredential',
  columns,
  (lock) => `
held as materialized (
  select i.*, u.*, recoup.clock() as now, row_number() over (partition by i.upstream_id order by i.ord) as twin,
    (select ctid from recoup.upstreams x where x.id = i.upstream_id) as seen_tid
  from (select * from input order by upstream_id, ord) i
  left join lateral (
    select ctid as tid, tableoid as part, status, credential_ref as old_ref
    from recoup.upstreams where id = i.upstream_id for no key update ${lock}) u on true),
about as materialized (
  select h.ord, b.* from held h
  cross join lateral (
    select id as b_id, ctid as b_tid, tableoid as b_part from recoup.blocks b
    where b.subject_id = h.upstream_id and ${OPEN} for no key update ${lock}) b
  where h.tid is not null and h.status <> 'retired' and h.twin = 1),
seen as materialized (
  select h.*, case
    when tid is null then case when seen_tid is null then 'no_upstream' else 'busy' end
    when twin > 1 or tid is distinct from seen_tid then 'again'
    when status = 'retired' then 'retired'
    when (select count(*) from recoup.blocks b where b.subject_id = h.upstream_id and ${OPEN}) > (select count(*) from about a where a.ord = h.ord) then 'busy'
    when coalesce(credential_ref, old_ref) is not distinct from old_ref and not exists (select from about a where a.ord = h.ord) then 'duplicate'
    else 'replaced' end as verdict
  from held h),
closed as (
  update recoup.blocks b set closed_at = s.now, closed_as = 'credential', generation = b.generation + 1
  from about a join seen s using (ord) where b.ctid = a.b_tid and b.tableoid = a.b_part and s.verdict = 'replaced'
  returning s.ord, b.*),
told as (
  insert into recoup.block_events (block_id, generation, type, at, until, step, evidence_at, actor, reason)
  select c.id, c.generation, 'closed', c.closed_at, c.until, c.step, c.evidence_at, s.actor, coalesce(s.reason, 'credential')
  from closed c join seen s using (ord)),
won as (
  update recoup.upstreams u set credential_ref = coalesce(s.credential_ref, u.credential_ref), credential_at = s.now,
    generation = u.generation + 1, events = u.events + 1, blocked_until = ${blockedUntil('u', 'select id from closed')}
  from seen s where u.ctid = s.tid and u.tableoid = s.part and s.verdict = 'replaced'
  returning s.ord, u.id, u.events, ${settingsOf('u')} as settings),
written as (
  insert into recoup.upstream_events (upstream_id, number, type, at, settings, actor, reason)
  select w.id, w.events, 'credential', s.now, w.settings, s.actor, s.reason from won w join seen s using (ord))${answerEach(
    'seen s',
    `case when verdict = 'replaced' and not exists (select from won w where w.ord = s.ord) then 'again' else verdict end`,
    { closed: '(select count(*) from closed c where c.ord = s.ord)' },
  )}`,
  { holds: 'upstream_id' },
);
