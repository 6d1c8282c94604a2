// Sweep: records of lease requests that nobody will ask for again.

import type { Runner } from '../db/runner.ts';
import { statement } from '../db/statement.ts';

const columns = { count: 'int' } as const;

/** An hour is longer than any client repeats a request, and far longer than most leases. */
export const forgetRequests = statement<typeof columns, { forgotten: number }>(
  'lease_request.forget',
  columns,
  () => `
old as (
  select queue, id from recoup.lease_requests where created_at < recoup.clock() - interval '1 hour'
  order by created_at limit (select count from input) for update skip locked),
gone as (delete from recoup.lease_requests r using old o where r.queue = o.queue and r.id = o.id returning r.id)
select json_build_array(json_build_object('forgotten', (select count(*) from gone)))::text as answer`,
);

export async function sweepLeaseRequests(runner: Runner): Promise<void> {
  await runner.read(forgetRequests, [{ count: 5000 }]);
}
