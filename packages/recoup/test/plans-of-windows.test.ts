// The plans of limits and windows: on 100,000 limits with windows and uses, with statistics from when the tables were empty.
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { AnyStatement } from '../src/db/database.ts';
import { nextDue } from '../src/jobs/queries.ts';
import { forgetUses } from '../src/sweeps/windows.ts';
import type { TestDatabase } from '../src/testing.ts';
import { ofUpstreams, useUpstream } from '../src/upstreams/limits.ts';
import { explainUpstreams } from '../src/upstreams/queries.ts';
import { setApart } from '../src/upstreams/quota.ts';
import { selectUpstream } from '../src/upstreams/select.ts';
import { dueLimits, windowsOf } from '../src/windows/queries.ts';
import { rollWindow } from '../src/windows/roll.ts';
import { times } from './support/look.ts';
import { blocksTouched, withOldStatistics } from './support/plans.ts';

const LIMITS = 100_000;
const BATCH = 100;
const BLOCKS_PER_INPUT = 150;

/** An upstream with a daily limit each, half of them due; a pool where nine of ten have used up a limit of their own, one where all have; one hot limit that rolls over 100,000 seconds of use; 100,000 old uses. */
const FILL = `
set session_replication_role = replica;
insert into recoup.upstreams (id, pool, provider, turn_at, registered_at)
  select 'u' || i, 'p' || i % 100, 'x', now(), now() from generate_series(0, ${LIMITS - 1}) i;
insert into recoup.limits (id, subject_type, subject_id, unit, kind, zone, start_hour, amount, total, window_start, window_end, last_at, rolls_at, set_at)
  select 'l' || i, 'upstream', 'u' || i, 'requests', 'daily', 'UTC', 0, 10, 5, d, d + interval '1 day', d, d + interval '1 day', d
  from generate_series(0, ${LIMITS - 1}) i cross join lateral (select date_trunc('day', now()) - i % 2 * interval '1 day' as d) d;
insert into recoup.windows (limit_id, window_start, window_end, total_before, begun_by, prunes_at)
  select id, window_start, window_end, 0, 'use', window_end + interval '1 day' from recoup.limits;
insert into recoup.uses (limit_id, key, window_start, amount, booked_at) select id, 'k', window_start, 5, window_start from recoup.limits;
insert into recoup.upstreams (id, pool, provider, turn_at, registered_at) values ('hot', 'hot', 'hot', now(), now());
insert into recoup.limits (id, subject_type, subject_id, unit, kind, length_ms, amount, total, window_start, window_end, last_at, set_at)
  select 'hot', 'provider', 'hot', 'requests', 'rolling', 50000000, 100, 100000, s, s + interval '1 s', s, s from (select date_trunc('second', now()) as s) n;
insert into recoup.windows (limit_id, window_start, window_end, total_before, begun_by, prunes_at)
  select 'hot', s, s + interval '1 s', 99999 - i, 'use', s + interval '2 days'
  from generate_series(0, 99999) i cross join lateral (select date_trunc('second', now()) - i * interval '1 s' as s) n;
insert into recoup.upstreams (id, pool, provider, turn_at, registered_at, quota_until)
  select 'f' || i, case when i < 50000 then 'most' else 'all' end, 'x', now(), now(),
    case when i % 10 > 0 or i >= 50000 then date_trunc('day', now()) + interval '1 day' end from generate_series(0, ${LIMITS - 1}) i;
insert into recoup.limits (id, subject_type, subject_id, unit, kind, zone, start_hour, amount, total, window_start, window_end, last_at, rolls_at, set_at)
  select 'of ' || id, 'upstream', id, 'requests', 'daily', 'UTC', 0, 5, 5, d, d + interval '1 day', d, d + interval '1 day', d
  from recoup.upstreams cross join lateral (select date_trunc('day', now()) as d) d where quota_until is not null;
reset session_replication_role`;

describe.each(inject('servers'))('plans of windows on $name', ({ url }) => {
  let db: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    ({ db, client } = await withOldStatistics(url, ['upstreams', 'limits', 'windows', 'uses'], FILL));
  }, 300_000);

  afterAll(async () => {
    await client?.end();
    await db?.drop();
  });

  const use = (upstream_id: string, key: string) => ({
    upstream_id,
    key,
    scopes: [''],
    used: { requests: 1, tokens: 5 },
  });
  const definition = { kind: 'daily', zone: 'UTC', start_hour: 0, amount: 20 };
  const set = (limit_id: string, subject_id: string) => ({
    limit_id,
    subject_type: 'upstream',
    subject_id,
    scope: '',
    unit: 'requests',
    ...definition,
  });
  const batches: [string, AnyStatement, (i: number) => object][] = [
    ['a use in a window', useUpstream, (i) => use(`u${2 * i}`, 'new')],
    ['a use that begins a window', useUpstream, (i) => use(`u${2 * i + 1}`, 'new')],
    ['a use that is booked', useUpstream, (i) => use(`u${2 * i}`, 'k')],
    ['a use of one limit that rolls', useUpstream, (i) => use('hot', `new ${i}`)],
    ['a use that nothing counts', useUpstream, (i) => ({ ...use(`u${i}`, 'new'), used: { tokens: 1 } })],
    ['a limit that is set', ofUpstreams.set, (i) => set(`new ${i}`, `u${i}`)],
    ['a limit that is changed', ofUpstreams.set, (i) => set(`l${i}`, `u${i}`)],
    ['a limit that is ended', ofUpstreams.end, (i) => ({ limit_id: `l${i}` })],
    ['a window that is reset', ofUpstreams.reset, (i) => ({ limit_id: `l${2 * i}` })],
    ['a window that is over', rollWindow, (i) => ({ limit_id: `l${2 * i + 1}` })],
  ];

  test.each(batches)(
    '%s touches a bounded number of blocks per input, waiting or not',
    async (_name, statement, input) => {
      for (const mode of ['shared', 'patient'] as const) {
        const touched = await blocksTouched(client, statement, times(BATCH, input), mode);
        expect(touched).toBeGreaterThan(0);
        expect(touched, mode).toBeLessThan(BATCH * BLOCKS_PER_INPUT);
        expect(await blocksTouched(client, statement, [input(0)], mode), `${mode}, one input`).toBeLessThan(400);
      }
    },
  );

  const reads: [string, AnyStatement, object, number][] = [
    ['a selection', selectUpstream, { pool: 'p1', lease_id: 'new', lease_ms: 1000 }, 400],
    [
      'a selection where what is shared rolls and is used up',
      selectUpstream,
      { pool: 'hot', lease_id: 'new', lease_ms: 1000 },
      400,
    ],
    [
      'a selection where most have used up a limit of their own',
      selectUpstream,
      { pool: 'most', lease_id: 'new', lease_ms: 1000 },
      400,
    ],
    ['a selection where all have', selectUpstream, { pool: 'all', lease_id: 'new', lease_ms: 1000 }, 400],
    ['when that pool is back', explainUpstreams, { pool: 'all', nearest: 20 }, 2500],
    ['that one has', setApart, { upstream_id: 'f1' }, 200],
    ['why one is out', explainUpstreams, { upstream_id: 'hot' }, 200],
    ['the limits of one', ofUpstreams.list, { subject_type: 'upstream', subject_id: 'hot' }, 200],
    ['one limit', ofUpstreams.list, { limit_id: 'l5' }, 200],
    ['the last windows of one', windowsOf, { limit_id: 'hot', count: 100 }, 200],
    ['a page of what is due', dueLimits, { count: 100 }, 400],
    ['when something is due', nextDue, {}, 100],
    ['old uses', forgetUses, { count: 100 }, 5000],
  ];

  test.each(reads)('%s touches a bounded number of blocks', async (_name, statement, input, limit) => {
    const touched = await blocksTouched(client, statement, [input], 'patient');
    expect(touched).toBeGreaterThan(0);
    expect(touched).toBeLessThan(limit);
  });
});
