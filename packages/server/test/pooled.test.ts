// The service behind a transaction-mode pooler: every operation through it, and workers that nobody can notify.

import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasPgBouncer, startPgBouncer } from '../../recoup/test/support/pgbouncer.ts';
import { type Pooler, startTransactionPooler } from '../../recoup/test/support/transaction-pooler.ts';
import type { Service } from '../src/service.ts';
import { Api } from './support/api.ts';
import { callEvery, WEBHOOK_SECRET } from './support/every-operation.ts';

const CONNECTIONS = 4;
const poolers = [
  { kind: 'stand-in', start: startTransactionPooler },
  ...(hasPgBouncer ? [{ kind: 'PgBouncer', start: startPgBouncer }] : []),
];

describe.each(poolers)('$kind', ({ start }) => {
  let db: TestDatabase;
  let pooler: Pooler;
  const services: Service[] = [];
  beforeAll(async () => {
    db = await testDatabase(inject('servers')[0]!.url);
    pooler = await start(db.url, CONNECTIONS);
    for (const _ of [1, 2]) {
      services.push(
        await Api.replica(
          { url: pooler.url },
          {
            open: { connection: pooler.url, pooler: true, migrate: true, pollMs: 100, sweep: true },
            webhookSecrets: { generic: [WEBHOOK_SECRET] },
          },
        ),
      );
    }
  });
  afterAll(async () => {
    for (const service of services) await service.close();
    await pooler.stop();
    await db.drop();
  });

  test('every operation', async () => {
    await callEvery(Api.over(services[0]!), 'content');
  });

  test('health and metrics', async () => {
    const { url } = services[0]!;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^recoup_database_up 1$/m);
  });

  test('a long poll at one replica finds what another took in, by its poll', async () => {
    const [one, two] = services.map((service) => Api.over(service));
    const wallet = await one!.wallet();
    const poll = two!.call('queues.lease', { queue: `far-${wallet}`, waitMs: 60_000 });
    await one!.call('jobs.submit', { wallet, job: 'j', queue: `far-${wallet}`, price: 1 });
    expect((await poll).jobs).toMatchObject([{ job: { wallet, id: 'j', attempt: 1 } }]);
    const told = `select query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and query ~* '^ *(listen|notify)|pg_notify'`;
    expect(await db.query(told)).toEqual([]);
  });

  test('a hundred submits at once over four connections: each charged once', async () => {
    const apis = services.map((service) => Api.over(service));
    const wallet = await apis[0]!.wallet(1000);
    const submits = Array.from({ length: 100 }, (_, i) =>
      apis[i % 2]!.call('jobs.submit', { wallet, job: `j${i % 50}`, queue: 'crowd', price: 10 }),
    );
    const outcomes = (await Promise.all(submits)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'charged')).toHaveLength(50);
    expect((await apis[0]!.call('wallets.balance', { wallet })).booked).toBe(500);
    expect((await services[0]!.recoup.verify()).problems).toEqual([]);
  });
});
