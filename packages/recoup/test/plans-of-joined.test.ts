// The plans of work joined to capacity: on 200,000 jobs and 10,000 upstreams, most of them out, with statistics from when the tables were empty.
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { AnyStatement } from '../src/db/database.ts';
import { claimFurther, claimJob, closeClaims } from '../src/jobs/claim.ts';
import { extendJob } from '../src/jobs/extend.ts';
import { failJob } from '../src/jobs/fail.ts';
import { holdJob } from '../src/jobs/hold.ts';
import { releaseJob } from '../src/jobs/release.ts';
import { slotOf } from '../src/jobs/slots.ts';
import { succeedJob } from '../src/jobs/succeed.ts';
import type { TestDatabase } from '../src/testing.ts';
import { times } from './support/look.ts';
import { blocksTouched, withOldStatistics } from './support/plans.ts';

const TABLES = [
  'wallets',
  'entries',
  'jobs',
  'attempts',
  'queues',
  'lease_requests',
  'upstreams',
  'blocks',
  'upstream_leases',
];
const JOBS = 200_000;
const RUNNING = 50_000;

/** Of 200,000 jobs 50,000 run, each with a slot; half of the others are due, half wait for a day. Of 10,000 upstreams one in ten is free. */
const FILL = `
set session_replication_role = replica;
insert into recoup.queues (id, pool) values ('q', 'p'), ('out', 'none');
insert into recoup.wallets (id, customer_id, balance, last_seq, last_entry_at) select 'w' || w, 'c', 0, 0, null from generate_series(0, 999) w;
insert into recoup.jobs (wallet_id, id, queue, state, price, attempt, max_failures, not_before, lease_until, upstream_id, submitted_at)
  select 'w' || i % 1000, 'j' || i, case when i % 100 = 7 then 'out' else 'q' end, case when i < ${RUNNING} then 'running' else 'queued' end, 0,
    (i < ${RUNNING})::int, 5, case when i >= ${RUNNING} then now() + case when i % 2 = 0 then interval '1 day' else interval '-1 minute' end end,
    case when i < ${RUNNING} then now() + interval '1 hour' end, case when i < ${RUNNING} then 'u' || i % 10000 end, now()
  from generate_series(0, ${JOBS - 1}) i;
insert into recoup.upstreams (id, pool, provider, turn_at, registered_at, blocked_until)
  select 'u' || i, 'p', 'x' || i % 50, now() - interval '1 second' * i, now(), case when i % 10 > 0 then now() + interval '1 hour' end
  from generate_series(0, 9999) i;
insert into recoup.upstreams (id, pool, provider, turn_at, registered_at, blocked_until)
  select 'n' || i, 'none', 'y', now(), now(), now() + interval '1 hour' from generate_series(0, 999) i;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at, until)
  select 'upstream', id, 'rate_limited', 'backoff', 'auto', now(), now(), blocked_until from recoup.upstreams where blocked_until is not null;
insert into recoup.upstream_leases (id, upstream_id, provider, route, scopes, leased_at, lease_until)
  select ${slotOf('j')}, upstream_id, 'x', 'direct', '{""}', now(), now() + interval '1 hour' from recoup.jobs j where state = 'running';
reset session_replication_role`;

describe.each(inject('servers'))('plans of joined work on $name', ({ url }) => {
  let db: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    ({ db, client } = await withOldStatistics(url, TABLES, FILL));
  }, 300_000);
  afterAll(async () => {
    await client?.end();
    await db?.drop();
  });

  const claim = (more: object) => ({ queue: 'q', lease_ms: 1000, nth: 0, count: 1, ...more });
  const running = (more: object = {}) => times(100, (i) => ({ wallet_id: `w${i}`, id: `j${i}`, n: 1, ...more }));
  const ways: [what: string, statement: AnyStatement, inputs: object[], limit: number][] = [
    ['a claim of one', claimJob, [claim({})], 400],
    ['a claim of one for a model', claimJob, [claim({ model: 'm', capability: 'c' })], 400],
    ['a claim under a request id', claimJob, [claim({ request_id: 'r' })], 400],
    ['a claim of eight', claimJob, [claim({ count: 8 })], 1500],
    ['a claim of a hundred', claimJob, [claim({ count: 100 })], 20_000],
    ['a claim that looks further', claimFurther, [claim({})], 800],
    ['a claim where all are out', claimJob, [claim({ queue: 'out' })], 400],
    ['a claim that looks further where all are out', claimFurther, [claim({ queue: 'out' })], 400],
    ['a claim of a queue without jobs', claimJob, [claim({ queue: 'empty' })], 200],
    ['no more for a request', closeClaims, [{ queue: 'q', request_id: 'r', nth: 1 }], 20],
    ['a job and its upstream that are held', holdJob, running(), 6000],
    ['a success with a slot', succeedJob, running(), 9000],
    ['a failure with a slot', failJob, running({ new_verdict: 'presumed', retryable: true }), 9000],
    ['a release with a slot', releaseJob, running(), 9000],
    ['an extension with a slot', extendJob, running({ lease_ms: 60_000 }), 9000],
  ];

  test.each(ways)('%s touches a bounded number of blocks', async (_what, statement, inputs, limit) => {
    const touched = await blocksTouched(client, statement, inputs, 'patient');
    expect(touched).toBeGreaterThan(0);
    expect(touched).toBeLessThan(limit);
  });
});
