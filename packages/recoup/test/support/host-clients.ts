// The clients a host application may have, each behind the same face: a transaction with its own SQL and Recoup in it.
import { sql as drizzleSql } from 'drizzle-orm';
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres';
import { drizzle as drizzlePostgresJs } from 'drizzle-orm/postgres-js';
import {
  CamelCasePlugin,
  CompiledQuery,
  Kysely,
  type KyselyPlugin,
  ParseJSONResultsPlugin,
  PostgresDialect,
} from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import type { InTransaction, Queryable, Recoup } from 'recoup';
import { forDrizzle, forKysely, forPostgresJs, forPrisma } from 'recoup/adapters';
import { PrismaClient } from '../../../../examples/prisma-stand-in.ts';

export type Row = Record<string, unknown>;
export type Isolation = 'read committed' | 'repeatable read' | 'serializable';

/** One transaction of the host: Recoup in it, and the host's own statements. */
export interface Inside {
  recoup: InTransaction;
  run(text: string, values?: unknown[]): Promise<Row[]>;
}

export interface Host {
  /** Commits when `fn` returns, rolls back when it throws. */
  transaction<T>(fn: (inside: Inside) => Promise<T>, isolation?: Isolation): Promise<T>;
  close(): Promise<void>;
}

type Connect = (url: string, recoup: Recoup) => Host;

const inside = (recoup: Recoup, client: Queryable): Inside => ({
  recoup: recoup.using(client),
  run: async (text, values = []) => {
    const result = await client.query(text, values);
    return (Array.isArray(result) ? result : result.rows) as Row[];
  },
});

function poolOf(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => {});
  return pool;
}

/** A host on pg itself: BEGIN and COMMIT by hand. */
export const connectPg: Connect = (url, recoup) => {
  const pool = poolOf(url);
  return {
    async transaction(fn, isolation = 'read committed') {
      const client = await pool.connect();
      try {
        await client.query(`begin isolation level ${isolation}`);
        const result = await fn(inside(recoup, client));
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  };
};

const connectPostgresJs: Connect = (url, recoup) => {
  const sql = postgres(url, { max: 4, onnotice: () => {} });
  return {
    // postgres.js unwraps arrays of queries in what the function returns, hence the box.
    transaction: async <T>(fn: (inside: Inside) => Promise<T>, isolation = 'read committed') => {
      const box = await sql.begin(`isolation level ${isolation}`, async (tx) => ({
        value: await fn(inside(recoup, forPostgresJs(tx))),
      }));
      return (box as { value: T }).value;
    },
    close: () => sql.end(),
  };
};

const connectDrizzlePg: Connect = (url, recoup) => {
  const pool = poolOf(url);
  const db = drizzlePg(pool);
  return {
    transaction: (fn, isolationLevel = 'read committed') =>
      db.transaction((tx) => fn(inside(recoup, forDrizzle(tx, drizzleSql))), { isolationLevel }),
    close: () => pool.end(),
  };
};

const connectDrizzlePostgresJs: Connect = (url, recoup) => {
  const client = postgres(url, { max: 4, onnotice: () => {} });
  const db = drizzlePostgresJs(client);
  return {
    transaction: (fn, isolationLevel = 'read committed') =>
      db.transaction((tx) => fn(inside(recoup, forDrizzle(tx, drizzleSql))), { isolationLevel }),
    close: () => client.end(),
  };
};

const connectKysely =
  (plugins: KyselyPlugin[]): Connect =>
  (url, recoup) => {
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: poolOf(url) }), plugins });
    return {
      transaction: (fn, isolation = 'read committed') =>
        db
          .transaction()
          .setIsolationLevel(isolation)
          .execute((trx) =>
            fn({
              recoup: recoup.using(forKysely(trx)),
              run: async (text, values = []) =>
                (await trx.withoutPlugins().executeQuery<Row>(CompiledQuery.raw(text, values))).rows,
            }),
          ),
      close: () => db.destroy(),
    };
  };

const LEVELS = {
  'read committed': 'ReadCommitted',
  'repeatable read': 'RepeatableRead',
  serializable: 'Serializable',
} as const;

const connectPrisma =
  (major: 6 | 7): Connect =>
  (url, recoup) => {
    const prisma = new PrismaClient({ datasourceUrl: url, major });
    return {
      transaction: (fn, isolation = 'read committed') =>
        prisma.$transaction((tx) => fn(inside(recoup, forPrisma(tx))), { isolationLevel: LEVELS[isolation] }),
      close: () => prisma.$disconnect(),
    };
  };

export const hostClients: readonly { name: string; connect: Connect }[] = [
  { name: 'pg', connect: connectPg },
  { name: 'postgres.js', connect: connectPostgresJs },
  { name: 'Drizzle on pg', connect: connectDrizzlePg },
  { name: 'Drizzle on postgres.js', connect: connectDrizzlePostgresJs },
  { name: 'Kysely', connect: connectKysely([]) },
  { name: 'Kysely with plugins', connect: connectKysely([new ParseJSONResultsPlugin(), new CamelCasePlugin()]) },
  { name: 'Prisma 6 (stand-in)', connect: connectPrisma(6) },
  { name: 'Prisma 7 (stand-in)', connect: connectPrisma(7) },
];
