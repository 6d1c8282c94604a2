// Sweep: windows whose time is up end, and what was booked in windows of long ago is forgotten.

import type { Runner } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { Refusal } from '../errors.ts';
import { joinAgain } from '../upstreams/quota.ts';
import { observeRestart } from '../windows/held.ts';
import { type DueLimit, dueLimits } from '../windows/queries.ts';
import { rollWindow } from '../windows/roll.ts';
import { isSecond } from '../windows/rules.ts';
import { PAGE, pagesOf } from './pages.ts';

const columns = { count: 'int' } as const;

/**
 * Windows that are over for a day lose their uses; seconds that rolled go as a whole, except the one that its limit still names. Limit by
 * limit up to its last window that is due, so that what is kept has no gap. A limit that somebody holds is passed over.
 */
export const forgetUses = statement<typeof columns, { forgotten: number }>(
  'window.forget',
  columns,
  () => `
due as materialized (
  select limit_id, window_start from recoup.windows where prunes_at is not null and prunes_at < recoup.clock()
  order by prunes_at limit (select count from input)),
held as materialized (
  select d.limit_id, d.up_to, l.window_start
  from (select limit_id, max(window_start) as up_to from due group by limit_id order by limit_id) d
  cross join lateral (select window_start from recoup.limits where id = d.limit_id for no key update skip locked) l),
old as materialized (
  select w.limit_id, w.window_start, ${isSecond('w.window_start', 'w.window_end')} and w.window_start < h.window_start as goes
  from held h
  cross join lateral (
    select * from recoup.windows w where w.limit_id = h.limit_id and w.window_start <= h.up_to and w.prunes_at is not null offset 0) w),
unbooked as (
  delete from recoup.uses u using old o where u.limit_id = o.limit_id and u.window_start = o.window_start),
gone as (
  delete from recoup.windows w using old o where w.limit_id = o.limit_id and w.window_start = o.window_start and o.goes),
kept as (
  update recoup.windows w set prunes_at = null from old o where w.limit_id = o.limit_id and w.window_start = o.window_start and not o.goes)
select json_build_array(json_build_object('forgotten', (select count(*) from old)))::text as answer`,
);

const WINDOWS = 2000;

export async function sweepWindows(runner: Runner, signal: AbortSignal): Promise<void> {
  const read = (after?: DueLimit) =>
    runner.read(dueLimits, [{ after_at: after?.rolls_at, after_id: after?.limit_id, count: PAGE }]);
  for await (const rows of pagesOf(read, signal)) {
    // The guard decides, not the page: what another replica ended meanwhile, and what was used since, stands.
    const answers = await runner.many(
      rollWindow,
      rows.map(({ limit_id }) => ({ limit_id })),
    );
    const apart: { upstream_id: string }[] = [];
    for (const answer of answers) {
      if (answer instanceof Refusal) continue;
      observeRestart(runner, answer);
      if (answer.outcome === 'rolled' && answer.subject === 'upstream') apart.push({ upstream_id: answer.subject_id! });
    }
    if (apart.length > 0) await runner.read(joinAgain, apart);
  }
  await runner.read(forgetUses, [{ count: WINDOWS }]);
}
