// Sweep: leases of slots that lapsed long ago, sticky keys that nobody uses, and blocks that nobody has tried for a day.

import type { Runner } from '../db/runner.ts';
import { statement } from '../db/statement.ts';
import { Refusal } from '../errors.ts';
import { forgetProbes } from '../probes/claim.ts';
import { lapseBlock } from '../upstreams/close.ts';
import { type UnusedRow, unusedBlocks } from '../upstreams/queries.ts';
import { PAGE, pagesOf } from './pages.ts';

const columns = { count: 'int' } as const;

/** A lapsed lease counts nowhere; for an hour it still says when the request of a late report began. */
export const forgetLeases = statement<typeof columns, { forgotten: number }>(
  'upstream_lease.forget',
  columns,
  () => `
old as (
  select id from recoup.upstream_leases where lease_until < recoup.clock() - interval '1 hour'
  order by lease_until limit (select count from input) for update skip locked),
gone as (delete from recoup.upstream_leases l using old o where l.id = o.id returning l.id)
select json_build_array(json_build_object('forgotten', (select count(*) from gone)))::text as answer`,
);

/** A key that was not used for its age counts nowhere. */
export const forgetAffinities = statement<typeof columns, { forgotten: number }>(
  'affinity.forget',
  columns,
  () => `
old as (
  select pool, key from recoup.affinities where until <= recoup.clock()
  order by until limit (select count from input) for update skip locked),
gone as (delete from recoup.affinities a using old o where a.pool = o.pool and a.key = o.key returning a.key)
select json_build_array(json_build_object('forgotten', (select count(*) from gone)))::text as answer`,
);

const LEASES = 5000;
const PAGES = 20;

/** How many blocks could not be ended now; `onError` is told of each. */
export async function sweepUpstreams(
  runner: Runner,
  signal: AbortSignal,
  onError: (error: Error) => void,
): Promise<number> {
  await runner.read(forgetLeases, [{ count: LEASES }]);
  await runner.read(forgetAffinities, [{ count: LEASES }]);
  await runner.read(forgetProbes, [{ count: LEASES }]);
  let failed = 0;
  const read = (after?: UnusedRow) =>
    runner.read(unusedBlocks, [{ after_until: after?.until, after_id: after?.block_id, count: PAGE }]);
  for await (const rows of pagesOf(read, signal, PAGES)) {
    // Of the generation that was read: one that was opened again or tried meanwhile stays.
    const answers = await runner.many(
      lapseBlock,
      rows.map(({ block_id, generation }) => ({ block_id, generation, closed_as: 'time', reason: 'unused for a day' })),
    );
    for (const [index, answer] of answers.entries()) {
      if (!(answer instanceof Refusal)) {
        if (answer.outcome === 'closed') runner.observe('block.recover', 'time', { policy: answer.policy });
        continue;
      }
      failed += 1;
      onError(new Error(`The sweep cannot end block ${rows[index]!.block_id}: ${answer.message}`, { cause: answer }));
    }
  }
  return failed;
}
