// The plans of webhooks: on 200,000 entries and 200,000 deliveries, with statistics from when the tables were empty.
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { AnyStatement } from '../src/db/database.ts';
import type { TestDatabase } from '../src/testing.ts';
import { dispatchEvents } from '../src/webhooks/dispatch.ts';
import { endpointsOn, listDeliveries } from '../src/webhooks/queries.ts';
import { replayDeliveries } from '../src/webhooks/replay.ts';
import { forgetDeliveries, leaseDeliveries } from '../src/webhooks/sending.ts';
import { blocksTouched, withOldStatistics } from './support/plans.ts';

const ROWS = 200_000;

/** Two endpoints: one that has looked at all but the last hundred entries, one that has never looked. Ten deliveries of 200,000 are due. */
const FILL = `
set session_replication_role = replica;
insert into recoup.wallets (id, customer_id, balance, last_seq, last_entry_at) values ('w', 'c', 1, ${ROWS}, now());
insert into recoup.entries (wallet_id, seq, type, amount, balance, key, created_at, tx)
  select 'w', i, 'adjust', case when i % 2 = 0 then 1 else -1 end, case when i % 2 = 0 then 0 else -1 end, 'k' || i, now(), i::text::xid8
  from generate_series(1, ${ROWS}) i;
insert into recoup.webhook_endpoints (id, url, kinds, position, epoch, looked_at, registered_at)
  select 'e' || i, 'https://x.invalid/', array['wallet.debt', 'job.dead', 'inbox.opened', 'alert.firing'], case i when 0 then '${ROWS - 100}' else '0' end::xid8, 0, now(), now()
  from generate_series(0, 1) i;
insert into recoup.webhook_deliveries (id, endpoint_id, event, kind, happened_at, payload, state, due_at, ended_at, attempt, tries)
  select recoup.webhook_id('e0', i::text), 'e0', i::text, 'job.dead', now() - i * interval '1 s', '{}',
    case when i <= 10 then 'pending' when i <= 20 then 'dead' else 'delivered' end, case when i <= 10 then now() end,
    case when i > 10 then now() - case when i > ${ROWS - 10} then 40 else 1 end * interval '1 day' end, 1, 1
  from generate_series(1, ${ROWS}) i;
reset session_replication_role`;

describe.each(inject('servers'))('plans of webhooks on $name', ({ url }) => {
  let db: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    const tables = ['wallets', 'entries', 'webhook_endpoints', 'webhook_deliveries'];
    ({ db, client } = await withOldStatistics(url, tables, FILL));
  }, 300_000);
  afterAll(async () => {
    await client?.end();
    await db?.drop();
  });

  test.each<[string, AnyStatement, object, number]>([
    ['dispatch of a hundred new rows', dispatchEvents, { endpoint_id: 'e0', count: 500 }, 3000],
    ['dispatch of a page far behind', dispatchEvents, { endpoint_id: 'e1', count: 500 }, 12_000],
    ['which endpoints are due', endpointsOn, {}, 100],
    ['lease of ten', leaseDeliveries, { endpoint_id: 'e0', count: 10, lease_ms: 60_000 }, 500],
    ['a page of deliveries', listDeliveries, { endpoint_id: 'e0', count: 100 }, 500],
    ['the dead ones', listDeliveries, { endpoint_id: 'e0', state: 'dead', count: 100 }, 500],
    ['replay of the dead ones', replayDeliveries, { endpoint_id: 'e0', dead: true, count: 100 }, 500],
    ['the pending ones', listDeliveries, { endpoint_id: 'e0', state: 'pending', count: 100 }, 500],
    [
      'replay since an instant',
      replayDeliveries,
      { endpoint_id: 'e0', since: '2000-01-01T00:00:00Z', dead: false, count: 100 },
      3000,
    ],
    ['replay of one', replayDeliveries, { endpoint_id: 'e0', id: 'msg_none', count: 1 }, 500],
    ['forgetting', forgetDeliveries, { count: 100, delivered_ms: 30 * 86_400_000, dead_ms: 90 * 86_400_000 }, 500],
  ])('%s reads what it needs', async (_name, statement, input, most) => {
    const blocks = await blocksTouched(client, statement, [input], 'patient');
    expect(blocks).toBeLessThan(most);
  });
});
