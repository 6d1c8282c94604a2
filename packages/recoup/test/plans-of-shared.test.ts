// The plans where a whole pool of 20,000 shares what keeps it out, beside a million closed blocks, with statistics from when the tables were empty.
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { TestDatabase } from '../src/testing.ts';
import { poolState } from '../src/upstreams/pools.ts';
import { selectFurther, selectUpstream } from '../src/upstreams/select.ts';
import { blocksTouched, withOldStatistics } from './support/plans.ts';

const TABLES = ['upstreams', 'blocks', 'upstream_leases', 'limits'];
const UPSTREAMS = 20_000;
/** A row of each, and little beside. Looked at one by one they are 15 blocks each. */
const WALK = UPSTREAMS * 1.5;

/** Pools by what keeps them out: their provider, their route, their 1,000 groups, a trial at the provider, a limit of the provider. */
const FILL = `
set session_replication_role = replica;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at, until, closed_at, closed_as, generation)
  select 'upstream', 'provider/' || i % ${UPSTREAMS}, 'rate_limited', 'backoff', 'auto', now() - interval '2 days', now() - interval '2 days',
    now() - interval '1 day', now() - interval '1 day', 'success', 2
  from generate_series(0, 999999) i;
insert into recoup.upstreams (id, pool, provider, quota_group, route, turn_at, registered_at)
  select pool || '/' || i, pool, pool, pool || i % 1000, pool, now() - interval '1 ms' * (i * 7919 % ${UPSTREAMS}), now()
  from unnest(array['provider', 'route', 'group', 'trial', 'limit', 'free']) pool cross join generate_series(0, ${UPSTREAMS - 1}) i;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at, until)
  select type, id, 'overloaded', 'backoff', 'auto', now() - interval '1 hour', now() - interval '1 hour', now() + at
  from (values ('provider', 'provider', interval '1 hour'), ('route', 'route', interval '1 hour'), ('provider', 'trial', interval '-1 minute')) of (type, id, at)
  union all
  select 'quota_group', 'group' || i, 'overloaded', 'backoff', 'auto', now() - interval '1 hour', now() - interval '1 hour', now() + interval '1 hour'
  from generate_series(0, 999) i;
insert into recoup.upstream_leases (id, upstream_id, provider, route, leased_at, lease_until)
  values ('out', 'trial/0', 'trial', 'trial', now() - interval '1 s', now() + interval '1 hour');
insert into recoup.limits (id, subject_type, subject_id, unit, kind, zone, start_hour, amount, total, total_before, window_start, window_end, last_at, set_at)
  values ('l', 'provider', 'limit', 'requests', 'daily', 'UTC', 0, 5, 5, 0, now() - interval '1 hour', now() + interval '1 hour', now(), now());
reset session_replication_role`;

describe.each(inject('servers'))('plans of what pools share on $name', ({ url }) => {
  let db: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    ({ db, client } = await withOldStatistics(url, TABLES, FILL));
  }, 300_000);

  afterAll(async () => {
    await client?.end();
    await db?.drop();
  });

  test.each(['provider', 'route', 'group', 'trial', 'limit'])(
    'a pool that is out by what it shares (%s) is answered without a look at each',
    async (pool) => {
      const select = { pool, lease_id: 'new', lease_ms: 1000 };
      for (const [statement, input] of [
        [selectUpstream, select],
        [selectFurther, select],
        [poolState, { pool }],
      ] as const) {
        const touched = await blocksTouched(client, statement, [input], 'patient');
        expect(touched).toBeGreaterThan(0);
        expect(touched).toBeLessThan(WALK);
      }
      const [{ outcome }] = await answerOf(selectFurther.text.patient, select);
      const [{ usable }] = await answerOf(poolState.text.patient, { pool });
      expect([outcome, usable]).toEqual(['none', false]);
    },
  );

  test('who is not looks at none of that', async () => {
    const select = { pool: 'free', lease_id: 'new', lease_ms: 1000 };
    expect(await blocksTouched(client, selectUpstream, [select], 'patient')).toBeLessThan(400);
    expect(await blocksTouched(client, poolState, [{ pool: 'free' }], 'patient')).toBeLessThan(400);
  });

  const answerOf = async (text: string, input: object) =>
    JSON.parse((await client.query(text, [JSON.stringify([input])])).rows[0].answer);
});
