// Runs each example on a database of its own and holds it to what its first line says it shows.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { main as besideQueues } from './beside-queues.ts';
import { main as feedConsumer } from './feed-consumer.ts';
import { main as movingIn } from './moving-in.ts';
import { main as outbox } from './outbox.ts';
import { main as ownQueue } from './own-queue.ts';
import { main as streaming } from './streaming-llm.ts';
import { main as stripe } from './stripe-top-up.ts';
import { program as twelveLines } from './twelve-lines.ts';
import { main as upstreams } from './upstreams.ts';
import { main as withDrizzle } from './with-drizzle.ts';
import { main as withKysely } from './with-kysely.ts';
import { main as withPg } from './with-pg.ts';
import { main as withPostgresJs } from './with-postgres-js.ts';
import { main as withPrismaShaped } from './with-prisma-shaped.ts';
import { main as workOnAPool } from './work-on-a-pool.ts';
import { main as worker } from './worker.ts';

const folder = import.meta.dirname;

describe.each(inject('servers'))('$name', ({ url }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase(url);
  });
  afterAll(() => database.drop());

  test.each([
    ['with-pg', withPg],
    ['with-postgres-js', withPostgresJs],
    ['with-drizzle', withDrizzle],
    ['with-kysely', withKysely],
    ['with-prisma-shaped', withPrismaShaped],
  ])('%s: the order and the charge commit together, or not at all', async (_name, main) => {
    const shown = { first: 'charged', refused: 'insufficient_credits', again: 'duplicate', orders: 1, booked: 70 };
    expect(await main(database.url)).toEqual(shown);
  });

  test('twelve-lines: stored, charged, worked; once, however often it is run', async () => {
    const shown = { state: 'succeeded', result: { drawn: 'a cat' }, booked: 95 };
    expect(await twelveLines(database.url)).toEqual(shown);
    expect(await twelveLines(database.url)).toEqual(shown);
  });

  test('work-on-a-pool: a limited account gives the job back, a wrong request fails it, the other account does the rest', async () => {
    expect(await workOnAPool(database.url)).toEqual({
      results: ['hello!', null, 'again!'],
      booked: 80,
      attempts: ['released on first', 'succeeded on second'],
      out: ['rate_limited'],
    });
  });

  test('upstreams: what is limited or revoked is passed over, a wrong request blames nobody, a new key frees', async () => {
    expect(await upstreams(database.url)).toEqual({
      answers: ['hello!', null, 'again!'],
      failing: [['rate_limited'], ['Create a new key or log in anew, and store it.'], []],
      inbox: ['auth_revoked', 'ann', 0],
      replaced: 'replaced',
      history: ['registered by a report', 'opened by a report', 'credential by ann', 'closed by ann'],
    });
  });

  test('worker: a result, a final price, a definitive failure, and a lost answer that is found before it is paid twice', async () => {
    expect(await worker(database.url)).toEqual({
      jobs: [
        { state: 'succeeded', result: { file: 'plain.mp4' } },
        { state: 'succeeded', result: { file: 'short.mp4' } },
        { state: 'dead', result: null },
        { state: 'succeeded', result: { file: 'lost.mp4' } },
      ],
      // One each for plain, short and lost; none for the second attempt of lost.
      calls: 3,
      lost: ['charge', 'refund', 'reclaim'],
      booked: 100 - 10 - 4 - 0 - 10,
    });
  });

  test('own-queue: charged with its message, refunded when a delivery fails, reclaimed when the next succeeds', async () => {
    expect(await ownQueue(database.url)).toEqual({
      charged: 70,
      refused: 'insufficient_credits',
      told: ['reclaimed'],
      deliveries: 2,
      entries: ['charge', 'refund', 'reclaim'],
      booked: 70,
    });
    // The refused order left no message behind.
    const messages = await database.query(`select count(*)::int as sent from pgboss.job where name = 'renders'`);
    expect(messages).toEqual([{ sent: 1 }]);
  });

  test('beside-queues: delivered and acknowledged any number of times, worked and paid for once', async () => {
    expect(await besideQueues(database.url)).toEqual({
      shown: {
        bullmq: ['charge'],
        'bullmq, given up': ['charge', 'refund'],
        sqs: ['charge'],
        'sqs, dead letter': ['charge', 'refund'],
        temporal: ['charge'],
        'temporal, given up': ['charge', 'refund'],
      },
      most: 1,
      thrown: 'no answer',
      refused: 'insufficient_credits',
      booked: 70,
    });
  });

  test('streaming-llm: pays for what came: all of it, nothing of half an answer, what was delivered before an abort', async () => {
    expect(await streaming(database.url)).toEqual({
      seen: {
        usage: { said: 14, paid: 14 },
        break: { said: 'socket hang up', paid: 0 },
        'usage, then break': { said: 14, paid: 14 },
        aborted: { said: 6, paid: 6 },
      },
      booked: 100 - 14 - 14 - 6,
    });
  });

  test('stripe-top-up: two events of one payment, repeated, after its refund: granted once; a forgery and a conflict are not heard', async () => {
    expect(await stripe(database.url)).toEqual({
      sent: [200, 200, 200, 200, 200, 200, 400, 500],
      told: ['conflict'],
      entries: ['grant 100 welcome', 'adjust -200 re_1', 'grant 500 pi_1'],
    });
  });

  test('outbox: closed refuses, open and later keep; what was kept is charged once, or refused', async () => {
    expect(await outbox(database.url)).toEqual({
      closed: 503,
      anyway: 200,
      later: 202,
      early: true,
      told: { 20: 'charged', 30: 'duplicate', 500: 'insufficient_credits' },
      left: 0,
      booked: 50,
    });
  });

  test('feed-consumer: told of the new epoch, it drops what was lost and goes on', async () => {
    expect(await feedConsumer(database.url)).toEqual({ before: 70, after: 50, reasons: ['backup of 11:00'] });
  });

  test('moving-in: every balance once, and a column that moved since is named', async () => {
    const other = await testDatabase(url);
    expect(await movingIn(other.url)).toEqual({
      first: { granted: 998, refused: [] },
      second: { granted: 0, refused: [] },
      third: { granted: 0, refused: ['user 5: conflict'] },
      ok: true,
      positive: true,
      debt: -10,
      booked: 40,
    });
    await other.drop();
  });
});

const programs = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));

test('the shortest embed is twelve lines', () => {
  const text = readFileSync(`${folder}/twelve-lines.ts`, 'utf8');
  const region = text.slice(text.indexOf('// docs:'), text.indexOf('// end')).split('\n').slice(1);
  expect(region.filter((line) => line.trim() !== '')).toHaveLength(12);
});

test('examples import the library as a user would', () => {
  for (const name of programs) {
    const text = readFileSync(`${folder}/${name}`, 'utf8');
    const own = [...text.matchAll(/^import .* from '(\.[^']+)'/gm)].map((match) => match[1]);
    expect(own.filter((path) => !/^\.\/(support|prisma-stand-in)\.ts$/.test(path!))).toEqual([]);
  }
});

test('from the command line without DATABASE_URL an example says what it needs, and with it does its work', async () => {
  const { DATABASE_URL: _, ...env } = process.env;
  const start = (more: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, ['--import', 'tsx', '--conditions=recoup-source', `${folder}/with-pg.ts`], {
      env: { ...env, ...more },
      encoding: 'utf8',
    });
  const without = start({});
  expect(without).toMatchObject({ status: 2, stdout: '' });
  expect(without.stderr).toMatch(/^DATABASE_URL is not set/);
  const database = await testDatabase(inject('servers')[0]!.url);
  const done = start({ DATABASE_URL: database.url });
  await database.drop();
  expect(done).toMatchObject({ status: 0, stderr: '' });
  expect(done.stdout).toContain(`refused: 'insufficient_credits'`);
});
