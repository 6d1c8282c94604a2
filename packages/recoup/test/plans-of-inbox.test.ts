// The plans of the inbox: 50,000 open manual blocks and 200,000 closed ones, with statistics from when the tables were empty.
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { listInbox } from '../src/inbox/queries.ts';
import type { TestDatabase } from '../src/testing.ts';
import { blocksTouched, withOldStatistics } from './support/plans.ts';

const OPEN = 50_000;
const TABLES = ['upstreams', 'blocks', 'inbox_notes', 'upstream_leases'];

/** Each upstream of 1,000 pools is out; every other item is Ann's, every tenth is put off, and a group, a provider and a route are out too. */
const FILL = `
set session_replication_role = replica;
insert into recoup.upstreams (id, pool, provider, quota_group, route, turn_at, registered_at, blocked_until)
  select 'u' || i, 'p' || i % 1000, 'x' || i % 100, 'g' || i % 5000, 'r' || i % 100, now(), now(), 'infinity' from generate_series(1, ${OPEN}) i;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at, closed_at, closed_as, generation)
  select 'upstream', 'u' || 1 + i % ${OPEN}, 'billing', 'operator', 'manual', now() - interval '2 days', now() - interval '2 days', now() - interval '1 day', 'operator', 2
  from generate_series(1, 200000) i;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at)
  select 'upstream', 'u' || i, 'billing', 'operator', 'manual', now() - interval '1 hour', now() - interval '1 hour' from generate_series(1, ${OPEN}) i;
insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at)
  values ('quota_group', 'g7', 'billing', 'operator', 'manual', now(), now()), ('provider', 'x7', 'billing', 'operator', 'manual', now(), now()),
    ('route', 'r7', 'billing', 'operator', 'manual', now(), now());
insert into recoup.inbox_notes (item, number, type, at, actor)
  select 'block:' || id, 1, 'taken', now(), 'ann' from recoup.blocks where closed_at is null and id % 2 = 0;
insert into recoup.inbox_notes (item, number, type, at, actor, until)
  select 'block:' || id, 2, 'snoozed', now(), 'ann', now() + interval '1 day' from recoup.blocks where closed_at is null and id % 10 = 0;
reset session_replication_role`;

describe.each(inject('servers'))('plans of the inbox on $name', ({ url }) => {
  let db: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    ({ db, client } = await withOldStatistics(url, TABLES, FILL));
  }, 300_000);

  afterAll(async () => {
    await client?.end();
    await db?.drop();
  });

  test.each([
    ['a page', {}, 8000],
    ['a page further on', { after: 220000 }, 8000],
    ['the end', { after: 249990 }, 12_000],
    ['of somebody', { owner: 'ann' }, 10_000],
    ['nobodys', { nobodys: true }, 9000],
    // Whose each item is has to be read, once.
    ['of somebody who has none', { owner: 'bob' }, 4 * OPEN],
    ['put off', { snoozed: true }, 14_000],
    ['of a pool', { pool: 'p7' }, 16_000],
    ['of a pool that is not there', { pool: 'none' }, 8000],
  ] as [string, object, number][])(
    '%s touches a bounded number of blocks',
    async (_name, input, limit) => {
      const touched = await blocksTouched(client, listInbox, [{ count: 100, ...input }], 'patient');
      expect(touched).toBeGreaterThan(0);
      expect(touched).toBeLessThan(limit);
    },
    100_000,
  );
});
