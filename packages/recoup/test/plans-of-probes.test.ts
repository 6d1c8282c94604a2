// The plans of probes: on 100,000 upstreams that are out, most of them gated or asked early, with statistics from when the tables were empty.
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { AnyStatement } from '../src/db/database.ts';
import { answerProbe } from '../src/probes/answer.ts';
import { claimProbes, forgetProbes, lapseProbes } from '../src/probes/claim.ts';
import { listProbes, nextProbe } from '../src/probes/queries.ts';
import { readProgress } from '../src/probes/recheck.ts';
import type { TestDatabase } from '../src/testing.ts';
import { reportUpstream } from '../src/upstreams/report.ts';
import { selectUpstream } from '../src/upstreams/select.ts';
import { blocksTouched, withOldStatistics } from './support/plans.ts';

const TABLES = ['upstreams', 'blocks', 'block_events', 'upstream_leases', 'probers', 'probes'];
const UPSTREAMS = 100_000;

/**
 * A tenth in a pool of its own, `due`: half of them wait for an answer, the others are asked about already. A tenth in `early`: their next check
 * has come. A tenth in `elsewhere`: due, and no prober of this process. The others are out for long. A million probes of the past.
 */
const FILL = `
set session_replication_role = replica;
insert into recoup.probers (pool, kind, grace_ms, every_ms, timeout_ms, cost, set_at)
  select p, 'function', 600000, 900000, 10000, '{"requests": 1}', now() from unnest(array['due', 'early', 'elsewhere', 'long', 'shared']) p;
insert into recoup.upstreams (id, pool, provider, turn_at, registered_at, blocked_until)
  select 'u' || i, p.pool, 'x', now(), now(), case when p.pool in ('due', 'elsewhere') then now() - interval '5 minutes' else now() + interval '5 days' end
  from generate_series(0, ${UPSTREAMS - 1}) i
  cross join lateral (select case i % 10 when 0 then 'due' when 1 then 'early' when 2 then 'elsewhere' else 'long' end as pool) p;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at, until, gate_ms, next_check_at, told_by)
  select 'upstream', id, 'rate_limited', case when pool in ('early', 'long') then 'reset_announced' else 'backoff' end, 'auto',
    now() - interval '1 hour', now() - interval '1 hour', blocked_until, 600000,
    case pool when 'early' then now() - interval '1 minute' when 'long' then now() + interval '10 minutes' end, id
  from recoup.upstreams;
insert into recoup.upstreams (id, pool, provider, quota_group, turn_at, registered_at) select 's' || i, 'shared', 'y', 'g', now(), now() from generate_series(0, 999) i;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at, until, gate_ms, told_by)
  values ('quota_group', 'g', 'rate_limited', 'backoff', 'auto', now() - interval '1 hour', now() - interval '1 hour', now() - interval '1 minute', 600000, 's5');
insert into recoup.block_events (block_id, generation, type, at, until, step, evidence_at)
  select id, 1, 'opened', opened_at, until, 1, opened_at from recoup.blocks;
insert into recoup.probes (block_id, generation, upstream_id, pool, source, kind, started_at, lease_until)
  select id, 1, subject_id, 'due', source, 'due', now(), now() + interval '1 hour' from recoup.blocks
  where subject_id like 'u%0' and id % 20 = 1;
insert into recoup.probes (block_id, generation, upstream_id, pool, source, kind, started_at, lease_until, ended_at, result, outcome, latency_ms, cost)
  select i % ${UPSTREAMS} + 1, 1, 'u' || i % ${UPSTREAMS}, 'long', 'backoff', 'due', now() - interval '1 day' + i * interval '10 ms', now() - interval '1 hour',
    now(), 'unavailable', 'unavailable', 5, '{"requests": 1}'
  from generate_series(1, 200000) i;
reset session_replication_role`;

describe.each(inject('servers'))('plans of probes on $name', ({ url }) => {
  let db: TestDatabase;
  let client: pg.Client;
  let underWay: number;
  beforeAll(async () => {
    ({ db, client } = await withOldStatistics(url, TABLES, FILL));
    const [row] = await db.query('select id::int from recoup.probes where ended_at is null order by id limit 1');
    underWay = Number(row!.id);
  }, 300_000);
  afterAll(async () => {
    await client?.end();
    await db?.drop();
  });

  const claim = { http: false, holder: 'h', count: 8 };
  const failure = {
    upstream_id: 'u5',
    success: false,
    scopes: [''],
    subject_type: 'upstream',
    scope: '',
    kind: 'other',
  };
  const ways: [what: string, statement: AnyStatement, input: () => object, limit: number][] = [
    // Sorts all whose check has come: by old statistics they are few.
    ['a claim', claimProbes, () => ({ ...claim, pools: ['due', 'early', 'shared'] }), 6000],
    // Passes over ten thousand that others have to ask about.
    ['a claim of what is due', claimProbes, () => ({ ...claim, pools: ['due'] }), 60_000],
    ['a claim with nothing to ask with', claimProbes, () => ({ ...claim, pools: [] }), 100],
    ['when the next is', nextProbe, () => ({}), 100],
    ['a yes', answerProbe, () => ({ probe_id: underWay, result: 'yes', latency_ms: 1, cost: { requests: 1 } }), 400],
    ['a no', answerProbe, () => ({ probe_id: underWay, result: 'no', latency_ms: 1, cost: { requests: 1 } }), 400],
    ['what has lapsed', lapseProbes, () => ({ count: 1000 }), 100],
    ['what is forgotten', forgetProbes, () => ({ count: 1000 }), 100],
    ['the probes of a block', listProbes, () => ({ block_id: 7, count: 100 }), 300],
    ['the newest probes', listProbes, () => ({ count: 100 }), 300],
    ['how far a re-check is', readProgress, () => ({ asked_at: '2030-01-01T00:00:00Z' }), 40_000],
    [
      'a failure that opens a block in a pool with a prober',
      reportUpstream,
      () => ({ ...failure, source: 'backoff', policy: 'auto' }),
      400,
    ],
    [
      'a selection from a pool that is out for long',
      selectUpstream,
      () => ({ pool: 'long', lease_id: 'new', lease_ms: 1000 }),
      400,
    ],
  ];

  test.each(ways)('%s touches a bounded number of blocks', async (_what, statement, input, limit) => {
    const touched = await blocksTouched(client, statement, [input()], 'patient');
    expect(touched).toBeGreaterThan(0);
    expect(touched).toBeLessThan(limit);
  });
});
