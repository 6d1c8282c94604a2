// What a statement reads: the blocks it touches by EXPLAIN ANALYZE of its generic plan, rolled back.
import pg from 'pg';
import type { AnyStatement } from '../../src/db/database.ts';
import { type LockMode, render } from '../../src/db/statement.ts';
import { type TestDatabase, testDatabase } from '../../src/testing.ts';

/** Options of a connection whose plans are those that serve: generic, and through indexes. */
export const generic = '-c enable_seqscan=off -c jit=off -c plan_cache_mode=force_generic_plan';

/** A database that `fill` fills, whose statistics are from when the tables were empty, and a client whose plans are those that serve. */
export async function withOldStatistics(
  url: string,
  tables: readonly string[],
  fill: string,
): Promise<{ db: TestDatabase; client: pg.Client }> {
  const db = await testDatabase(url);
  for (const table of tables) {
    await db.query(`alter table recoup.${table} set (autovacuum_enabled = off)`);
    await db.query(`analyze recoup.${table}`);
  }
  await db.query(fill);
  const client = new pg.Client({ connectionString: db.url, options: generic });
  await client.connect();
  return { db, client };
}

export async function blocksTouched(
  client: pg.Client,
  statement: AnyStatement,
  inputs: object[],
  mode: LockMode,
): Promise<number> {
  await client.query(`prepare probe (text) as ${render(statement, mode, 'recoup').text}`);
  try {
    return await touched(client, 'probe', inputs);
  } finally {
    await client.query('rollback');
    await client.query('deallocate probe');
  }
}

/** Of a statement that was prepared by that name. */
export async function touched(client: pg.Client, prepared: string, inputs: object[]): Promise<number> {
  let plan: Record<string, number> = {};
  // The second run counts: the first one also fills this connection's caches of the catalog.
  for (let run = 0; run < 2; run++) {
    await client.query('begin');
    const values = client.escapeLiteral(JSON.stringify(inputs));
    const explained = await client.query(
      `explain (analyze, buffers, timing off, format json) execute ${prepared} (${values})`,
    );
    await client.query('rollback');
    plan = explained.rows[0]['QUERY PLAN'][0].Plan;
  }
  return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
}
