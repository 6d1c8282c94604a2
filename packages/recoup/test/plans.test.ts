// The plans of the hot statements: on a million rows, with statistics from when the tables were tiny, none reads more than it needs.
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { AnyStatement } from '../src/db/database.ts';
import type { LockMode } from '../src/db/statement.ts';
import { cancelJob } from '../src/jobs/cancel.ts';
import { extendJob } from '../src/jobs/extend.ts';
import { failJob } from '../src/jobs/fail.ts';
import { handOverJob } from '../src/jobs/hand-over.ts';
import { lapseJob } from '../src/jobs/lapse.ts';
import { leaseJobs } from '../src/jobs/lease.ts';
import { listJobs } from '../src/jobs/list.ts';
import {
  dueDeadlines,
  dueLeases,
  getJob,
  jobAttempts,
  jobsByUpstreamRef,
  nextDue,
  nextReady,
} from '../src/jobs/queries.ts';
import { discardJob, redriveJob } from '../src/jobs/redrive.ts';
import { releaseJob } from '../src/jobs/release.ts';
import { settleJob } from '../src/jobs/settle.ts';
import { submitJob } from '../src/jobs/submit.ts';
import { succeedJob } from '../src/jobs/succeed.ts';
import type { TestDatabase } from '../src/testing.ts';
import { adjustEntry, grantEntry } from '../src/wallets/grant.ts';
import { balanceAt, entriesOfJob, getBalance, listEntries } from '../src/wallets/queries.ts';
import { blocksTouched, withOldStatistics } from './support/plans.ts';

const JOBS = 1_000_000;
const WALLETS = 10_000;
const BATCH = 300;
/** Blocks that one input may touch: a few index look-ups and writes. A scan of any big table would be tens of thousands. */
const BLOCKS_PER_INPUT = 120;

/** A million jobs: most finished, many in the future, some dead, running, waiting and ready. Consistent with their entries. */
const FILL = `
set session_replication_role = replica;
insert into recoup.wallets (id, customer_id, balance, last_seq, last_entry_at)
  select 'w' || w, 'c' || w, 1000000 - 40 * (${JOBS} / ${WALLETS}), 1 + ${JOBS} / ${WALLETS}, now()
  from generate_series(0, ${WALLETS - 1}) w;
insert into recoup.entries (wallet_id, seq, type, amount, balance, key, created_at)
  select 'w' || w, 1, 'grant', 1000000, 1000000, 'opening', now() from generate_series(0, ${WALLETS - 1}) w;
insert into recoup.entries (wallet_id, seq, type, amount, balance, job_id, created_at)
  select 'w' || i % ${WALLETS}, 2 + i / ${WALLETS}, 'charge', -40, 1000000 - 40 * (1 + i / ${WALLETS}), 'j' || i, now()
  from generate_series(0, ${JOBS - 1}) i;
insert into recoup.jobs (wallet_id, id, queue, state, price, attempt, max_failures, failures, failed_attempt, not_before, lease_until, deadline_at,
    dead_at, refunded_at, succeeded_at, succeeded_attempt, upstream_ref, submitted_at)
  select 'w' || i % ${WALLETS}, 'j' || i, 'q' || i % 10, s, 40, a, 5, f, nullif(f, 0),
    case s when 'queued' then now() + case when i % 100 < 97 then interval '1 day' else interval '-1 minute' end end,
    case s when 'running' then now() + interval '1 hour' * case when i % 1000 < 5 then -1 else 1 end end,
    case s when 'waiting' then now() + interval '1 hour' * case when i % 1000 < 5 then -1 else 1 end end,
    case s when 'dead' then now() end, case s when 'dead' then now() end,
    case s when 'succeeded' then now() end, case s when 'succeeded' then 1 end,
    case s when 'waiting' then 'ref' || i end, now()
  from generate_series(0, ${JOBS - 1}) i
  cross join lateral (select case when i / 10 % 10 < 4 then 'succeeded' when i / 10 % 10 < 7 then 'queued'
    when i / 10 % 10 = 7 then 'dead' when i / 10 % 10 = 8 then 'running' else 'waiting' end as s) s
  cross join lateral (select case s when 'queued' then 0 else 1 end as a, case s when 'dead' then 1 else 0 end as f) a;
reset session_replication_role`;

describe.each(inject('servers'))('plans on $name', ({ url }) => {
  let db: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    ({ db, client } = await withOldStatistics(url, ['wallets', 'entries', 'jobs', 'attempts', 'queues'], FILL));
  }, 300_000);

  afterAll(async () => {
    await client?.end();
    await db?.drop();
  });

  const blocks = (statement: AnyStatement, inputs: object[], mode: LockMode) =>
    blocksTouched(client, statement, inputs, mode);

  const keys = async (state: string, count = BATCH) =>
    (await db.query(`select wallet_id, id, attempt as n from recoup.jobs where state = $1 limit $2`, [
      state,
      count,
    ])) as {
      wallet_id: string;
      id: string;
      n: number;
    }[];

  const cases: [string, AnyStatement, () => Promise<object[]> | object[]][] = [
    [
      'submit',
      submitJob,
      () =>
        Array.from({ length: BATCH }, (_, i) => ({
          wallet_id: `w${i * 7}`,
          id: `new${i}`,
          queue: 'q1',
          price: 1,
          payload: { i },
        })),
    ],
    [
      'submit, one wallet',
      submitJob,
      () => Array.from({ length: BATCH }, (_, i) => ({ wallet_id: 'w1', id: `new${i}`, queue: 'q1', price: 1 })),
    ],
    [
      'submit, duplicates',
      submitJob,
      async () => (await keys('queued')).map((key) => ({ ...key, queue: 'q1', price: 40 })),
    ],
    [
      'fail',
      failJob,
      async () => (await keys('running')).map((key) => ({ ...key, new_verdict: 'presumed', retryable: true })),
    ],
    [
      'fail, unknown jobs',
      failJob,
      () =>
        Array.from({ length: BATCH }, (_, i) => ({
          wallet_id: `w${i}`,
          id: 'no',
          n: 1,
          new_verdict: 'presumed',
          retryable: true,
        })),
    ],
    ['lapse', lapseJob, async () => keys('running')],
    ['succeed', succeedJob, async () => (await keys('running')).map((key) => ({ ...key, new_result: { ok: true } }))],
    ['succeed, reclaiming', succeedJob, async () => keys('dead')],
    ['settle', settleJob, async () => (await keys('succeeded')).map((key) => ({ ...key, new_final_price: 30 }))],
    ['cancel', cancelJob, async () => keys('queued')],
    ['extend', extendJob, async () => keys('running')],
    ['handOver', handOverJob, async () => (await keys('running')).map((key) => ({ ...key, deadline_ms: 1000 }))],
    ['release', releaseJob, async () => keys('running')],
    ['redrive', redriveJob, async () => keys('dead')],
    ['discard', discardJob, async () => keys('dead')],
    ['grant', grantEntry, () => Array.from({ length: BATCH }, (_, i) => ({ wallet_id: `w${i}`, key: 'k', amount: 5 }))],
    [
      'adjust',
      adjustEntry,
      () => Array.from({ length: BATCH }, (_, i) => ({ wallet_id: `w${i}`, key: 'k', amount: -5 })),
    ],
  ];

  test.each(cases)(
    '%s touches a bounded number of blocks per input, waiting or not',
    async (_name, statement, inputs) => {
      const batch = await inputs();
      expect(batch).toHaveLength(BATCH);
      for (const mode of ['shared', 'patient'] as const) {
        const touched = await blocks(statement, batch, mode);
        expect(touched).toBeGreaterThan(0);
        expect(touched, mode).toBeLessThan(BATCH * BLOCKS_PER_INPUT);
        expect(await blocks(statement, batch.slice(0, 1), mode), `${mode}, one input`).toBeLessThan(400);
      }
    },
  );

  const reads: [string, AnyStatement, object, number][] = [
    ['lease', leaseJobs, { queue: 'q1', count: 100, worker: 'x' }, 100 * BLOCKS_PER_INPUT],
    [
      'lease with a request id',
      leaseJobs,
      { queue: 'q1', count: 100, worker: 'x', request_id: 'r' },
      100 * BLOCKS_PER_INPUT,
    ],
    ['lease of a queue with nothing', leaseJobs, { queue: 'none', count: 100, worker: 'x' }, 200],
    ['balance', getBalance, { wallet_id: 'w1' }, 400],
    ['balance at an instant', balanceAt, { wallet_id: 'w1', at: new Date().toISOString() }, 200],
    ['a page of entries', listEntries, { wallet_id: 'w1', count: 50 }, 1000],
    ['newest entries', listEntries, { wallet_id: 'w1', count: 50, newest_first: true }, 1000],
    ['entries of a job', entriesOfJob, { wallet_id: 'w1', job_id: 'j1' }, 100],
    ['jobs of a wallet', listJobs, { wallet_id: 'w1', count: 50, depth: 200 }, 1000],
    [
      'jobs of a wallet in a state that none has',
      listJobs,
      { wallet_id: 'w1', count: 50, depth: 2000, state: 'canceled' },
      1000,
    ],
    ['a job', getJob, { wallet_id: 'w1', id: 'j1' }, 50],
    ['attempts of a job', jobAttempts, { wallet_id: 'w1', id: 'j1' }, 50],
    ['a job by its upstream reference', jobsByUpstreamRef, { upstream_ref: 'ref95' }, 100],
    ['next due', nextDue, {}, 100],
    ['next ready', nextReady, { queue: 'q1' }, 200],
    ['a page of due leases', dueLeases, { count: 100 }, 100 * 20],
    ['a page of due deadlines', dueDeadlines, { count: 100 }, 100 * 20],
  ];

  test.each(reads)('%s touches a bounded number of blocks', async (_name, statement, input, limit) => {
    const touched = await blocks(statement, [input], 'patient');
    expect(touched).toBeGreaterThan(0);
    expect(touched).toBeLessThan(limit);
  });
});
