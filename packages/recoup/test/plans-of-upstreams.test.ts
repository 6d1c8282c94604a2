// The plans of selection and reports: on 100,000 upstreams, most of them blocked, with statistics from when the tables were empty.
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { AnyStatement } from '../src/db/database.ts';
import { noteItem } from '../src/inbox/note.ts';
import { forgetAffinities } from '../src/sweeps/upstream-leases.ts';
import type { TestDatabase } from '../src/testing.ts';
import { replaceCredential } from '../src/upstreams/credential.ts';
import { snapshotsOf } from '../src/upstreams/known-windows.ts';
import { listUpstreams } from '../src/upstreams/list.ts';
import { poolState } from '../src/upstreams/pools.ts';
import { blockProvider } from '../src/upstreams/provider.ts';
import { explainUpstreams, providerOf, unusedBlocks, upstreamHistory } from '../src/upstreams/queries.ts';
import { registerUpstream } from '../src/upstreams/register.ts';
import { extendUpstream, releaseUpstream } from '../src/upstreams/release.ts';
import { reportUpstream } from '../src/upstreams/report.ts';
import { selectFurther, selectUpstream } from '../src/upstreams/select.ts';
import { noteSnapshot } from '../src/upstreams/snapshot.ts';
import { times } from './support/look.ts';
import { blocksTouched, withOldStatistics } from './support/plans.ts';

const TABLES = [
  ...[
    'upstreams',
    'blocks',
    'block_events',
    'upstream_leases',
    'upstream_events',
    'snapshots',
    'affinities',
    'inbox_notes',
  ],
];
const UPSTREAMS = 100_000;
const BATCH = 100;
/** Blocks that one input may touch: its row, the blocks and leases of four subjects, and what it writes. */
const BLOCKS_PER_INPUT = 300;

/**
 * One pool of many providers. Of ten upstreams nine are out for an hour; of the tenth every other has a block that is over, and
 * each has a lease out. Ten thousand closed blocks of the past on each of a few.
 */
const FILL = `
set session_replication_role = replica;
insert into recoup.upstreams (id, pool, provider, turn_at, used_at, blocked_until, registered_at)
  select 'u' || i, 'p', 'x' || i % 100, now() - interval '1 second' * (i % 1000), now() - case when i % 20 = 0 then interval '2 minutes' else interval '10 s' end,
    case when i % 10 > 0 then now() + interval '1 hour' when i % 20 = 0 then now() - interval '1 minute' end, now()
  from generate_series(0, ${UPSTREAMS - 1}) i;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at, until)
  select 'upstream', id, case when id like '%1' then 'server_error' else 'rate_limited' end, 'backoff', 'auto',
    now() - interval '1 hour', now() - interval '1 hour', blocked_until
  from recoup.upstreams where blocked_until is not null;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at, until, closed_at, closed_as, generation)
  select 'upstream', 'u' || 10 * (i % 10), 'rate_limited', 'backoff', 'auto', now() - interval '2 days' + interval '1 s' * i,
    now() - interval '2 days', now() - interval '1 day', now() - interval '1 day', 'success', 2
  from generate_series(0, 99999) i;
insert into recoup.block_events (block_id, generation, type, at, step, evidence_at)
  select id, g, case g when 1 then 'opened' else 'closed' end, opened_at, 1, opened_at from recoup.blocks cross join generate_series(1, generation) g;
insert into recoup.upstreams (id, pool, provider, turn_at, registered_at) select 't' || i, 'trial', 'tried', now(), now() from generate_series(0, 9) i;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at, until)
  values ('provider', 'tried', 'overloaded', 'backoff', 'auto', now() - interval '2 hours', now() - interval '2 hours', now() - interval '1 hour');
insert into recoup.upstreams (id, pool, provider, turn_at, registered_at, blocked_until)
  select 'taken' || i, 'taken', 'x', now(), now(), now() - interval '1 hour' from generate_series(0, 499) i;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at, until)
  select 'upstream', id, 'rate_limited', 'backoff', 'auto', now() - interval '2 hours', now() - interval '2 hours', blocked_until
  from recoup.upstreams where pool = 'taken';
insert into recoup.upstream_leases (id, upstream_id, provider, route, leased_at, lease_until)
  select 'l' || id, id, 'x', 'direct', now() - interval '10 minutes', now() + interval '1 hour' from recoup.upstreams where pool = 'taken';
insert into recoup.upstream_leases (id, upstream_id, provider, route, leased_at, lease_until)
  select 'l' || i, 'u' || i, 'x' || i % 100, 'direct', now() - interval '10 minutes', now() + interval '1 hour'
  from generate_series(0, ${UPSTREAMS - 1}) i;
insert into recoup.upstream_events (upstream_id, number, type, at, settings)
  select id, g, case g when 1 then 'registered' else 'changed' end, now(), '{}' from recoup.upstreams cross join generate_series(1, 2) g;
update recoup.upstreams set events = 2;
insert into recoup.snapshots (subject_type, subject_id, name, kind, used, resets_at, exhausted, observed_at)
  select 'upstream', 'u' || i, 'w' || w, 'short', 0.5, now(), false, now() - interval '1 minute'
  from generate_series(0, ${UPSTREAMS - 1}) i cross join generate_series(1, 2) w;
insert into recoup.affinities (pool, key, upstream_id, until) select 'p', 'k' || i, 'u' || i, now() + interval '1 hour' from generate_series(0, ${UPSTREAMS - 1}) i;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at)
  select 'upstream', 'u' || i, 'billing', 'operator', 'manual', now() - interval '1 hour', now() - interval '1 hour' from generate_series(3, 2003, 10) i;
insert into recoup.inbox_notes (item, number, type, at, actor)
  select 'block:' || id, g, 'taken', now(), 'ann' from recoup.blocks cross join generate_series(1, 20) g where policy = 'manual';
reset session_replication_role`;

const block = { subject_type: 'upstream', scope: '', kind: 'rate_limited', source: 'backoff', policy: 'auto' };
const twoWindows = ['w1', 'w2'].map((name) => ({
  name,
  scope: '',
  kind: 'short',
  used: 0.6,
  reset_ms: 1000,
  exhausted: false,
}));
const free = (i: number) => 10 + 20 * i;

describe.each(inject('servers'))('plans of upstreams on $name', ({ url }) => {
  let db: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    ({ db, client } = await withOldStatistics(url, TABLES, FILL));
  }, 300_000);

  afterAll(async () => {
    await client?.end();
    await db?.drop();
  });

  const batches: [string, AnyStatement, (i: number) => object][] = [
    ['a failure', reportUpstream, (i) => ({ upstream_id: `u${free(i)}`, success: false, scopes: [''], ...block })],
    ['a failure of what is out', reportUpstream, (i) => ({ upstream_id: `u${10 * i + 1}`, scopes: [''], ...block })],
    [
      'a success',
      reportUpstream,
      (i) => ({ upstream_id: `u${free(i)}`, lease_id: `l${free(i)}`, success: true, scopes: [''] }),
    ],
    ['a success that frees', reportUpstream, (i) => ({ upstream_id: `u${10 * i + 2}`, success: true, scopes: [''] })],
    ['a read-out', noteSnapshot, (i) => ({ upstream_id: `u${free(i)}`, windows: twoWindows, speaks: true })],
    [
      'a read-out of what is out',
      noteSnapshot,
      (i) => ({ upstream_id: `u${10 * i + 3}`, windows: twoWindows, speaks: true }),
    ],
    ['another credential', replaceCredential, (i) => ({ upstream_id: `u${10 * i + 3}`, credential_ref: 'new' })],
    ['a change', registerUpstream, (i) => ({ upstream_id: `u${free(i)}`, weight: 3 })],
    ['a remark', noteItem, (i) => ({ item: `block:${i}`, block_id: i, actor: 'ann', note: 'n' })],
    ['a lease that is extended', extendUpstream, (i) => ({ lease_id: `l${i}`, lease_ms: 60_000 })],
    ['a lease that is given back', releaseUpstream, (i) => ({ lease_id: `l${i}` })],
  ];

  test.each(batches)(
    '%s touches a bounded number of blocks per input, waiting or not',
    async (_name, statement, input) => {
      for (const mode of ['shared', 'patient'] as const) {
        const touched = await blocksTouched(client, statement, times(BATCH, input), mode);
        expect(touched).toBeGreaterThan(0);
        expect(touched, mode).toBeLessThan(BATCH * BLOCKS_PER_INPUT);
        expect(await blocksTouched(client, statement, [input(0)], mode), `${mode}, one input`).toBeLessThan(600);
      }
    },
  );

  const select = { pool: 'p', lease_id: 'new', lease_ms: 1000 };
  const reads: [string, AnyStatement, object, number][] = [
    ['a selection', selectUpstream, select, 400],
    ['a selection that looks further', selectFurther, select, 400],
    ['a selection for a model', selectUpstream, { ...select, model: 'm', capability: 'c' }, 400],
    ['a selection that is repeated', selectUpstream, { ...select, lease_id: 'l5' }, 100],
    ['a selection with a key', selectUpstream, { ...select, sticky: 'k20', sticky_ms: 60_000 }, 400],
    ['a selection with a key whose own is out', selectUpstream, { ...select, sticky: 'k1', sticky_ms: 60_000 }, 400],
    ['a selection with a new key', selectUpstream, { ...select, sticky: 'new', sticky_ms: 60_000 }, 400],
    ['a selection from a pool that is not there', selectUpstream, { ...select, pool: 'none' }, 300],
    ['a selection where the provider is on trial', selectUpstream, { ...select, pool: 'trial' }, 1000],
    ['a selection where 100 are on trial', selectUpstream, { ...select, pool: 'taken' }, 10_000],
    ['a selection where all of 500 are on trial', selectFurther, { ...select, pool: 'taken' }, 20_000],
    ['whether it is the provider', blockProvider, { provider: 'x1' }, 300],
    ['when a pool is back', explainUpstreams, { pool: 'p', nearest: 20 }, 8000],
    ['why one is out', explainUpstreams, { upstream_id: 'u1' }, 200],
    ['the history of one', upstreamHistory, { upstream_id: 'u1' }, 100],
    ['whether a pool can be used', poolState, { pool: 'p' }, 400],
    ['whether a pool that is not there can be used', poolState, { pool: 'none' }, 300],
    ['a page of upstreams', listUpstreams, { count: 100 }, 8000],
    ['a page of the history of one', upstreamHistory, { upstream_id: 'u1', count: 10, newest_first: true }, 100],
    ['the windows of one', snapshotsOf, { upstream_id: 'u1' }, 30],
    ['whose decoder', providerOf, { upstream_id: 'u1' }, 10],
    ['keys that nobody uses', forgetAffinities, { count: 100 }, 400],
    ['a page of unused blocks', unusedBlocks, { count: 100 }, 400],
  ];

  test.each(reads)('%s touches a bounded number of blocks', async (_name, statement, input, limit) => {
    const touched = await blocksTouched(client, statement, [input], 'patient');
    expect(touched).toBeGreaterThan(0);
    expect(touched).toBeLessThan(limit);
  });
});
