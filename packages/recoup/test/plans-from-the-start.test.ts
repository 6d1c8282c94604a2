// Plans of selection that a connection made when nothing was there yet, and keeps: a crowd of upstreams and leases later they still hold.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { AnyStatement } from '../src/db/database.ts';
import { render } from '../src/db/statement.ts';
import { type TestDatabase, testDatabase } from '../src/testing.ts';
import { closeBlock } from '../src/upstreams/close.ts';
import { poolState } from '../src/upstreams/pools.ts';
import { explainUpstreams } from '../src/upstreams/queries.ts';
import { extendUpstream, releaseUpstream } from '../src/upstreams/release.ts';
import { reportUpstream } from '../src/upstreams/report.ts';
import { selectUpstream } from '../src/upstreams/select.ts';
import { generic, touched } from './support/plans.ts';

const TABLES = ['upstreams', 'blocks', 'block_events', 'upstream_leases'];
const UPSTREAMS = 3000;

/** Half open, each with its trial out; full; and out by a block on one model. */
const FILL = `
set session_replication_role = replica;
insert into recoup.upstreams (id, pool, provider, turn_at, registered_at, blocked_until, max_concurrency)
  select p || i, p, 'x', now(), now(), case p when 'taken' then now() - interval '1 hour' end, case p when 'full' then 1 end
  from generate_series(1, ${UPSTREAMS}) i cross join unnest(array['taken', 'full', 'model']) p;
insert into recoup.blocks (subject_type, subject_id, scope, kind, source, policy, opened_at, evidence_at, until)
  select 'upstream', id, case pool when 'model' then 'model:m' else '' end, 'rate_limited', 'backoff', 'auto', now() - interval '2 hours', now() - interval '2 hours',
    now() + case pool when 'model' then interval '1 hour' else interval '-1 hour' end
  from recoup.upstreams where pool <> 'full';
insert into recoup.upstream_leases (id, upstream_id, provider, route, leased_at, lease_until)
  select 'l' || id, id, 'x', 'direct', now() - interval '10 minutes', now() + interval '1 hour' from recoup.upstreams;
reset session_replication_role`;

const failure = {
  ...{ success: false, scopes: [''], subject_type: 'upstream', scope: '', kind: 'rate_limited', source: 'backoff' },
  policy: 'auto',
};
const select = { lease_id: 'new', lease_ms: 1000 };
const WAYS: readonly [what: string, statement: AnyStatement, input: object, limit: number][] = [
  ['a selection where all are on trial', selectUpstream, { ...select, pool: 'taken' }, 30 * UPSTREAMS],
  ['a selection where all are full', selectUpstream, { ...select, pool: 'full' }, 30 * UPSTREAMS],
  [
    'a selection where all are out for the model',
    selectUpstream,
    { ...select, pool: 'model', model: 'm' },
    30 * UPSTREAMS,
  ],
  ['a selection for another model', selectUpstream, { ...select, pool: 'model', model: 'n' }, 1000],
  ['whether a pool can be used', poolState, { pool: 'taken' }, 30 * UPSTREAMS],
  ['when a pool is back', explainUpstreams, { pool: 'taken', nearest: 20 }, 2000],
  ['a lease that is extended', extendUpstream, { lease_id: 'lfull1', lease_ms: 60_000 }, 100],
  ['a lease that is given back', releaseUpstream, { lease_id: 'lfull1' }, 100],
  ['a failure', reportUpstream, { ...failure, upstream_id: 'full1', lease_id: 'lfull1' }, 300],
  ['a block that is ended', closeBlock, { block_id: 1, closed_as: 'operator' }, 200],
  ['a report of success', reportUpstream, { upstream_id: 'taken1', success: true, scopes: [''] }, 300],
];

describe.each(inject('servers'))('plans from the start on $name', ({ url }) => {
  let db: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    db = await testDatabase(url);
    for (const table of TABLES) await db.query(`alter table recoup.${table} set (autovacuum_enabled = off)`);
    client = new pg.Client({ connectionString: db.url, options: generic });
    await client.connect();
    for (const [index, [, statement]] of WAYS.entries()) {
      await client.query(`prepare way_${index} (text) as ${render(statement, 'patient', 'recoup').text}`);
      await client.query(`explain execute way_${index} ('[]')`);
    }
    await db.query(FILL);
  });
  afterAll(async () => {
    await client?.end();
    await db?.drop();
  });

  test.each(WAYS.map((way, index) => [...way, index] as const))(
    '%s',
    async (_what, _statement, input, limit, index) => {
      const blocks = await touched(client, `way_${index}`, [input]);
      expect(blocks).toBeGreaterThan(0);
      expect(blocks).toBeLessThan(limit);
    },
  );
});
