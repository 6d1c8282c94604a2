// A host that changes how its driver parses types: nothing that Recoup says may change with it.

import { sql as drizzleSql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import postgres from 'postgres';
import { open, type Recoup } from 'recoup';
import { forDrizzle, forPostgresJs } from 'recoup/adapters';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';

const MAX = Number.MAX_SAFE_INTEGER;

/** What hosts do to pg's global parsers, for every type that an answer or a report could touch, and some worse things. */
const overrides: Record<string, (text: string) => unknown> = {
  int8: (text) => BigInt(text),
  int4: (text) => `int4:${text}`,
  numeric: (text) => Number.parseFloat(text),
  bool: (text) => (text === 't' ? 'yes' : 'no'),
  timestamptz: (text) => ({ isTemporal: true, text }),
  json: (text) => text,
  jsonb: (text) => ({ lazily: text }),
};
const OIDS: Record<string, number> = {
  int8: 20,
  int4: 23,
  numeric: 1700,
  bool: 16,
  timestamptz: 1184,
  json: 114,
  jsonb: 3802,
};

/** Runs a job's whole life and every report on it; answers what they said. */
async function everything(recoup: Recoup, using: Pick<Recoup, 'jobs' | 'wallets' | 'queues'>, wallet: string) {
  const one = { wallet, job: 'j1' };
  const queue = `queue-${wallet}`;
  const { jobs, wallets, queues } = using;
  await wallets.open({ wallet, customer: 'customer' });
  const granted = await wallets.grant({ wallet, key: 'start', amount: MAX });
  const settings = await queues.configure(queue, { backoffBaseMs: 0, backoffMaxMs: 0 });
  const charged = await jobs.submit({ ...one, queue, price: MAX, payload: { n: MAX, at: '2026-01-01' } });
  const [leased] = await jobs.lease({ queue, worker: 'w' });
  const failed = await jobs.fail({ ...one, attempt: 1 });
  const succeeded = await jobs.succeed({ ...one, attempt: 1, result: [1], finalPrice: MAX - 1 });
  const entries = [];
  for await (const entry of wallets.replay(wallet)) entries.push(entry.amount);
  const found = await jobs.get(one);
  const balance = await wallets.balance(wallet);
  const at = await wallets.balanceAt(wallet, new Date(charged.job.submittedAt.getTime() + 1000));
  expect(settings).toMatchObject({ backoffMaxMs: 0, paused: false });
  expect(granted).toMatchObject({ outcome: 'granted', amount: MAX, balance: MAX });
  expect(charged).toMatchObject({ outcome: 'charged', balance: 0, job: { price: MAX } });
  expect(charged.job.submittedAt.getTime()).toBeGreaterThan(Date.UTC(2020));
  expect(leased).toMatchObject({ payload: { n: MAX, at: '2026-01-01' }, job: { attempt: 1, worker: 'w' } });
  expect(failed).toMatchObject({ outcome: 'retrying', refunded: true });
  expect(failed.notBefore).toBeInstanceOf(Date);
  expect(succeeded).toMatchObject({ outcome: 'reclaimed', finalPrice: MAX - 1 });
  expect(entries).toEqual([MAX, -MAX, MAX, -MAX, 1]);
  expect(found).toMatchObject({ payload: { n: MAX }, result: [1], job: { state: 'succeeded' } });
  expect(balance).toMatchObject({ booked: 1, lastSeq: 5 });
  expect(at).toMatchObject({ booked: 1, seq: 5 });
  expect(await jobs.attempts(one)).toHaveLength(2);
  expect(await recoup.sweep()).toEqual({ lapsed: 0, expired: 0, turned: 0, pruned: 0, failed: 0 });
}

describe.each(inject('servers'))('$name', ({ url }) => {
  let database: TestDatabase;
  const previous = new Map<number, (text: string) => unknown>();

  beforeAll(async () => {
    database = await testDatabase(url);
    for (const [name, parse] of Object.entries(overrides)) {
      const oid = OIDS[name]!;
      previous.set(oid, pg.types.getTypeParser(oid) as (text: string) => unknown);
      pg.types.setTypeParser(oid as never, parse as never);
    }
  });
  afterAll(async () => {
    for (const [oid, parse] of previous) pg.types.setTypeParser(oid as never, parse as never);
    await database.drop();
  });

  test('pg with global type parsers of the host: on Recoup’s own connections, with migrate, feed, list and verify', async () => {
    const fresh = `fresh_${url.length}`;
    const recoup = await open({ connection: database.url, schema: fresh, migrate: true, sweep: false });
    await everything(recoup, recoup, 'wallet');
    expect(await recoup.queues.list()).toEqual([]);
    // A transaction open in any database of the server holds the feed back: other tests have some.
    await expect.poll(async () => (await recoup.feed.read(null)).events, { timeout: 30_000 }).toHaveLength(7);
    const { cursor } = await recoup.feed.read(null);
    expect((await recoup.feed.read(cursor)).events).toEqual([]);
    const verified = await recoup.verify();
    expect(verified).toMatchObject({ ok: true, wallets: 1, entries: 5, jobs: 1, sumOfEntries: 1, sumOfBalances: 1 });
    await recoup.close();
    const again = await open({ connection: database.url, schema: fresh, migrate: true, sweep: false });
    await again.close();
  });

  test('pg with global type parsers of the host: in its transaction, and in one of Drizzle on it', async () => {
    const recoup = await open({ connection: database.url, sweep: false });
    const pool = new pg.Pool({ connectionString: database.url });
    const client = await pool.connect();
    await client.query('begin');
    await everything(recoup, recoup.using(client), 'pg');
    await client.query('commit');
    client.release();
    await drizzle(pool).transaction((tx) => everything(recoup, recoup.using(forDrizzle(tx, drizzleSql)), 'drizzle'));
    await pool.end();
    await recoup.close();
  });

  test('pg with parsers of the client alone, and rows as arrays', async () => {
    const recoup = await open({ connection: database.url, sweep: false });
    const types = { getTypeParser: () => (text: string | Buffer) => String(text) };
    const client = new pg.Client({ connectionString: database.url, types });
    await client.connect();
    await everything(recoup, recoup.using(client), 'own-types');
    const arrays = {
      query: (text: string, values: unknown[]) => client.query({ text, values, rowMode: 'array' as const }),
    };
    await everything(recoup, recoup.using(arrays), 'arrays');
    await client.end();
    await recoup.close();
  });

  test('postgres.js with custom types, camel-cased names, a transform of undefined, and no prepared statements', async () => {
    const recoup = await open({ connection: database.url, sweep: false });
    const json = {
      to: 3802,
      from: [114, 3802],
      serialize: (value: unknown) => JSON.stringify({ wrapped: value }),
      parse: (text: string) => ({ wrapped: text }),
    };
    const date = { to: 1184, from: [1184], serialize: String, parse: (text: string) => ({ isTemporal: true, text }) };
    for (const options of [{}, { prepare: false }, { fetch_types: false }]) {
      const sql = postgres(database.url, {
        max: 1,
        types: { bigint: postgres.BigInt, json, date },
        transform: { ...postgres.camel, undefined: null },
        ...options,
      });
      const wallet = `postgres-js-${Object.keys(options).join()}`;
      await sql.begin((tx) => everything(recoup, recoup.using(forPostgresJs(tx as never)), wallet));
      await sql.end();
    }
    await recoup.close();
  });

  test('recoup/testing keeps its clock', async () => {
    await database.setClock('2030-01-01T00:00:00.000Z');
    expect(await database.now()).toEqual(new Date('2030-01-01T00:00:00.000Z'));
    await database.advance(1500);
    expect(await database.now()).toEqual(new Date('2030-01-01T00:00:01.500Z'));
  });
});
