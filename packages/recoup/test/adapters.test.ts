// recoup/adapters: what is not a transaction is refused, and transactions within transactions are savepoints.
import { sql as drizzleSql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { InvalidInput, open, type Queryable, type Recoup } from 'recoup';
import { forDrizzle, forKysely, forPostgresJs, forPrisma } from 'recoup/adapters';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { PrismaClient } from '../../../examples/prisma-stand-in.ts';

let number = 0;

describe.each(inject('servers'))('$name', ({ url }) => {
  let database: TestDatabase;
  let recoup: Recoup;
  let pool: pg.Pool;
  let sql: postgres.Sql;
  let kysely: Kysely<unknown>;
  let prisma: PrismaClient;

  beforeAll(async () => {
    database = await testDatabase(url);
    recoup = await open({ connection: database.url, sweep: false });
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
    sql = postgres(database.url, { max: 2 });
    const own = new pg.Pool({ connectionString: database.url, max: 2 });
    kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: own }) });
    prisma = new PrismaClient({ datasourceUrl: database.url });
  });
  afterAll(async () => {
    await Promise.all([pool.end(), sql.end(), kysely.destroy(), prisma.$disconnect(), recoup.close()]);
    await database.drop();
  });

  async function newWallet(): Promise<string> {
    number += 1;
    const wallet = `wallet-${number}`;
    await recoup.wallets.open({ wallet, customer: 'customer' });
    await recoup.wallets.grant({ wallet, key: 'start', amount: 100 });
    return wallet;
  }
  const submit = (client: Queryable, wallet: string, job: string) =>
    recoup.using(client).jobs.submit({ wallet, job, queue: 'q', price: 10 });
  const jobsOf = async (wallet: string) =>
    (await database.query('select id from recoup.jobs where wallet_id = $1 order by id', [wallet])).map(
      (row) => row.id,
    );
  const stop = new Error('roll back to here');

  test('a pool or a client outside of a transaction would charge at once: refused', () => {
    for (const wrong of [
      () => recoup.using(pool),
      () => forPostgresJs(sql),
      () => forDrizzle(drizzle(pool), drizzleSql),
      () => forKysely(kysely),
      () => forPrisma(prisma),
    ]) {
      expect(wrong).toThrow(InvalidInput);
      expect(wrong).toThrow(/^client: must be /);
    }
  });

  test('a savepoint of postgres.js', async () => {
    const wallet = await newWallet();
    await sql.begin(async (tx) => {
      await submit(forPostgresJs(tx), wallet, 'outer');
      await tx
        .savepoint(async (inner) => {
          await submit(forPostgresJs(inner), wallet, 'undone');
          throw stop;
        })
        .catch((error) => expect(error).toBe(stop));
      await tx.savepoint((inner) => submit(forPostgresJs(inner), wallet, 'inner'));
    });
    expect(await jobsOf(wallet)).toEqual(['inner', 'outer']);
  });

  test('a reserved connection of postgres.js', async () => {
    const wallet = await newWallet();
    const reserved = await sql.reserve();
    await reserved`begin`;
    await submit(forPostgresJs(reserved), wallet, 'gone');
    await reserved`rollback`;
    await reserved`begin`;
    await submit(forPostgresJs(reserved), wallet, 'kept');
    await reserved`commit`;
    reserved.release();
    expect(await jobsOf(wallet)).toEqual(['kept']);
  });

  test('a transaction of Drizzle within another', async () => {
    const wallet = await newWallet();
    await drizzle(pool).transaction(async (tx) => {
      await submit(forDrizzle(tx, drizzleSql), wallet, 'outer');
      const undone = tx.transaction(async (inner) => {
        await submit(forDrizzle(inner, drizzleSql), wallet, 'undone');
        throw stop;
      });
      await expect(undone).rejects.toBe(stop);
      await tx.transaction((inner) => submit(forDrizzle(inner, drizzleSql), wallet, 'inner'));
    });
    expect(await jobsOf(wallet)).toEqual(['inner', 'outer']);
  });

  test('a controlled transaction of Kysely with a savepoint', async () => {
    const wallet = await newWallet();
    const trx = await kysely.startTransaction().execute();
    await submit(forKysely(trx), wallet, 'outer');
    const saved = await trx.savepoint('before').execute();
    await submit(forKysely(saved), wallet, 'undone');
    await saved.rollbackToSavepoint('before').execute();
    await submit(forKysely(trx), wallet, 'after');
    await trx.commit().execute();
    expect(await jobsOf(wallet)).toEqual(['after', 'outer']);
  });

  test('what is no answer at all is named: a client that gives something else than rows', async () => {
    const strange = { query: async () => ({ records: [] }) };
    await expect(submit(strange, 'w', 'j')).rejects.toMatchObject({ code: 'database_error' });
    await expect(submit(strange, 'w', 'j')).rejects.toThrow(/rows/);
  });
});
