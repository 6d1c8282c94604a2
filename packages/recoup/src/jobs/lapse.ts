// job.lapse: a lease or a deadline passed unheard. What job.fail does, presumed, and only if it is due by the clock.
import { statement } from '../db/statement.ts';
import { type FailRow, failing } from './fail.ts';

const columns = { wallet_id: 'text', id: 'text', n: 'int' } as const;

/** Wallets that are held are passed over, also here: the next sweep finds the job again. */
export const lapseJob = statement<typeof columns, FailRow>(
  'job.lapse',
  columns,
  failing({
    due: 'coalesce(lease_until, deadline_at) <= now',
    verdict: `'presumed'`,
    retryable: 'true',
    retryAfterMs: 'null::bigint',
    reason: `case when state = 'running' then 'lease lapsed' else 'deadline passed' end`,
    upstreamRef: 'null::text',
    endedAs: 'lapsed',
    slots: '',
    code: 'lapsed',
  }),
  { waits: false },
);
